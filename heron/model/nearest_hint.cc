#include "heron/model/nearest_hint.h"

#include "heron/base/nearest.h"

namespace heron::model {
namespace {

constexpr size_t kShownNames = 16;

}  // namespace

std::string NearestHint(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  const std::string nearest = heron::NearestName(name, known);
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  std::string hint = "; known: ";
  // "and 1 more" would take the room of the name it hides.
  const size_t shown = known.size() <= kShownNames + 1 ? known.size() : kShownNames;
  for (size_t i = 0; i < shown; ++i) hint += (i == 0 ? "" : ", ") + known[i];
  if (known.size() > shown) hint += ", and " + std::to_string(known.size() - shown) + " more";
  return hint;
}

}  // namespace heron::model
