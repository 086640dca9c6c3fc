#include "heron/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace heron {
namespace {

// Longer words are no slips of the finger.
constexpr size_t kLongest = 128;

bool Same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> two_above(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_above, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({row[j - 1] + 1, above[j] + 1,
                         above[j - 1] + (Same(a[i - 1], b[j - 1]) ? size_t{0} : size_t{1})});
      if (i > 1 && j > 1 && Same(a[i - 1], b[j - 2]) && Same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string NearestName(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  if (name.size() > kLongest) return best;
  size_t best_distance = name.size() / 3 + 2;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongest) continue;
    const size_t distance = EditDistance(name, candidate);
    const bool near = distance <= std::max<size_t>(1, std::max(name.size(), candidate.size()) / 3);
    if (near && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace heron
