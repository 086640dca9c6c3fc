// The syntax of paths in the state store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heron/base/status.h"

namespace heron::state {

inline constexpr size_t kMaxPathBytes = 1024;
inline constexpr size_t kMaxPathComponentBytes = 200;
inline constexpr size_t kMaxValueBytes = 64 << 20;

bool IsPathComponent(std::string_view component);

// kInvalidArgument names the path and what is wrong. "/" is only a path for List.
Status CheckNodePath(const std::string& path);
Status CheckListPath(const std::string& path);
Status CheckValue(const std::string& path, const std::string& value);

}  // namespace heron::state
