#include "heron/api/config.h"

#include <charconv>

#include "heron/api/errors.h"

namespace heron {

namespace {

[[noreturn]] void Refuse(std::string_view key, const std::string& text, const char* wanted) {
  throw ConfigError("configuration key '" + std::string(key) + "' is '" + text +
                    "', which is not " + wanted);
}

template <typename T>
bool Parse(const std::string& text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

const std::string* Config::Find(std::string_view key) const {
  auto it = values_.find(std::string(key));
  return it == values_.end() ? nullptr : &it->second;
}

const std::string& Config::Require(std::string_view key) const {
  const std::string* text = Find(key);
  if (text == nullptr) {
    throw ConfigError("configuration key '" + std::string(key) +
                      "' is missing; set it with .Config(...) or --config at submit");
  }
  return *text;
}

void Config::Read(std::string_view, const std::string& text, std::string& value) { value = text; }

void Config::Read(std::string_view key, const std::string& text, int64_t& value) {
  if (!Parse(text, value)) Refuse(key, text, "an int64");
}

void Config::Read(std::string_view key, const std::string& text, double& value) {
  if (!Parse(text, value)) Refuse(key, text, "a number");
}

void Config::Read(std::string_view key, const std::string& text, bool& value) {
  if (text != "true" && text != "false") Refuse(key, text, "true or false");
  value = text == "true";
}

}  // namespace heron
