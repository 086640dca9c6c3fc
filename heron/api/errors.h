// What the API throws into user code, and what user code may throw. Everything thrown in a
// component is caught once by the engine, counted, shown with component and task, and restarts the
// task. Unrecoverable fails the topology instead, and so do TypeError and ConfigError where every
// spout is bounded: the next try would go no better.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace heron {

// For user code: trying again is of no use. The topology becomes FAILED with this reason.
class Unrecoverable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A component and its declarations do not fit: an index or name that the tuple does not have, a
// value of another type, an Output that differs from the declaration. The text names component,
// stream, field and both types.
class TypeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A serializer (heron/api/serializer.h) could not read a field. The text names component, field,
// stream and type, and what the serializer said.
class SerializerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A configuration value that is missing or does not read as the type asked for.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An input that cannot be read, with the path and the reason.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A line above LineReader's limit. It will be as long next time, therefore Unrecoverable.
class LineTooLong : public Unrecoverable {
 public:
  LineTooLong(std::string path, uint64_t offset, uint64_t size, bool size_is_exact, uint64_t limit);

  const std::string& path() const { return path_; }
  uint64_t offset() const { return offset_; }  // of the line's first byte in the file
  uint64_t size() const { return size_; }      // in bytes, at least
  bool size_is_exact() const { return size_is_exact_; }
  uint64_t limit() const { return limit_; }

 private:
  std::string path_;
  uint64_t offset_;
  uint64_t size_;
  bool size_is_exact_;
  uint64_t limit_;
};

}  // namespace heron
