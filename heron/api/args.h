// The program's own arguments: exactly what stands after "--" on the command line. What stands
// before it belongs to heron.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heron {

class Args {
 public:
  Args() = default;
  Args(int argc, const char* const* argv);
  explicit Args(std::vector<std::string> values) : values_(std::move(values)) {}

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  // Throws heron::Unrecoverable, naming the missing argument, if there are fewer.
  const std::string& operator[](size_t index) const;
  // `otherwise` if there are fewer.
  std::string Get(size_t index, std::string otherwise) const {
    return index < values_.size() ? values_[index] : std::move(otherwise);
  }
  std::vector<std::string>::const_iterator begin() const { return values_.begin(); }
  std::vector<std::string>::const_iterator end() const { return values_.end(); }
  const std::vector<std::string>& values() const { return values_; }

 private:
  std::vector<std::string> values_;
};

}  // namespace heron
