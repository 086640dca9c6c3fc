// Lines on stderr with time and level: the instance shares its process with the user's program, so it initialises no
// logging library. Any thread; one write per line.
#pragma once

#include <string>
#include <string_view>

namespace heron::instance {

enum class LogLevel : char { kInfo = 'I', kWarning = 'W', kError = 'E' };

// Of the calling thread, for processes that run several tasks: stands in front of each of its lines.
void SetLogLabel(std::string label);
const std::string& LogLabel();

void Log(LogLevel level, std::string_view text);

}  // namespace heron::instance
