// Which part of an input a task takes: part `index` (from 0) of `count`.
#pragma once

#include <cstdint>

namespace heron {

struct Slice {
  int32_t index = 0;
  int32_t count = 1;
};

}  // namespace heron
