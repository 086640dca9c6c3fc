// What to say of a mistyped name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heron::model {

// "; did you mean 'split'?", or "; known: a, b, c" (at most eight) when none is near, or "" when
// none is known.
std::string NearestHint(std::string_view name, const std::vector<std::string>& known);

}  // namespace heron::model
