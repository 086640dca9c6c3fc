// The configuration of a task: the topology's, overlaid with its component's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace heron {

class Config {
 public:
  Config() = default;
  explicit Config(std::map<std::string, std::string> values) : values_(std::move(values)) {}

  bool Has(std::string_view key) const { return values_.count(std::string(key)) > 0; }
  const std::map<std::string, std::string>& values() const { return values_; }

  // T is std::string, int64_t, double or bool ("true" or "false"). A missing key gives `otherwise`;
  // a value that does not read as T throws ConfigError naming key, value and type.
  template <typename T>
  T Get(std::string_view key, T otherwise) const {
    const std::string* text = Find(key);
    if (text == nullptr) return otherwise;
    T value;
    Read(key, *text, value);
    return value;
  }
  // A missing key throws ConfigError.
  template <typename T>
  T Get(std::string_view key) const {
    T value;
    Read(key, Require(key), value);
    return value;
  }

 private:
  const std::string* Find(std::string_view key) const;
  const std::string& Require(std::string_view key) const;
  static void Read(std::string_view key, const std::string& text, std::string& value);
  static void Read(std::string_view key, const std::string& text, int64_t& value);
  static void Read(std::string_view key, const std::string& text, double& value);
  static void Read(std::string_view key, const std::string& text, bool& value);

  std::map<std::string, std::string> values_;
};

}  // namespace heron
