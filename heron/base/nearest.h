// "Did you mean": how far a mistyped word is from the known ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heron {

// How many letters must be put in, taken away, replaced or swapped with their neighbour to get from
// one to the other (optimal string alignment), letters of both cases being the same. Takes time
// proportional to the product of the lengths: bound what strangers give.
size_t EditDistance(std::string_view a, std::string_view b);

// The nearest of `known`; empty when none is close (more than a third of its letters differ).
std::string NearestName(std::string_view name, const std::vector<std::string>& known);

}  // namespace heron
