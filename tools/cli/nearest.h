// "did you mean": the known name that is closest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tools::cli {

// The nearest by edit distance; empty when none is close (more than a third of its letters differ).
std::string NearestName(std::string_view name, const std::vector<std::string>& known);

// "; did you mean 'split'?", or "; known: a, b, c" (at most eight) when none is near, or "" when
// none is known.
std::string NearestHint(std::string_view name, const std::vector<std::string>& known);

}  // namespace tools::cli
