// The version of the engine and its commands, which are built and installed together.
#pragma once

namespace heron {

inline constexpr char kEngineVersion[] = "0.1.0";

}  // namespace heron
