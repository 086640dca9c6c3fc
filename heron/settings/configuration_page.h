// The page heron/docs/configuration.md, made of the key table. A test holds the file to it.
#pragma once

#include <string>

namespace heron::settings {

std::string ConfigurationPage();

}  // namespace heron::settings
