// Lines on stderr with time and level: the instance shares its process with the user's program, so it initialises no
// logging library. Any thread; one write per line.
#pragma once

#include <string_view>

namespace heron::instance {

enum class LogLevel : char { kInfo = 'I', kWarning = 'W', kError = 'E' };

void Log(LogLevel level, std::string_view text);

}  // namespace heron::instance
