#include "tools/cli/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace tools::cli {
namespace {

constexpr size_t kShownNames = 16;

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      row[j] = std::min({row[j - 1] + 1, above + 1, diagonal + (same ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = name.size() / 3 + 2;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(name, candidate);
    const bool near = distance <= std::max<size_t>(1, std::max(name.size(), candidate.size()) / 3);
    if (near && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string NearestHint(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  std::string hint = "; known: ";
  // "and 1 more" would take the room of the name it hides.
  const size_t shown = known.size() <= kShownNames + 1 ? known.size() : kShownNames;
  for (size_t i = 0; i < shown; ++i) hint += (i == 0 ? "" : ", ") + known[i];
  if (known.size() > shown) hint += ", and " + std::to_string(known.size() - shown) + " more";
  return hint;
}

}  // namespace tools::cli
