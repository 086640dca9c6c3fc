// Reads the lines of a regular file, or of one slice of it. Slice i of n takes the lines that begin
// in the i-th of n equal byte ranges, so that n readers together give every line once, whatever its
// length.
//
// The size is taken when the file is opened: what is appended later is not read, and a file that
// shrinks below it is an InputError. Readers of slices must all see the same file: do not change an
// input while a topology reads it. A line ends before '\n'; a last line without one counts; all
// other bytes, NUL and '\r' too, belong to the line. Memory: the buffer, and a line of up to the
// limit. A spout that reads in NextTuple shows its progress without more ado, unless it calls
// SpoutContext::Progress itself. Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heron/api/errors.h"
#include "heron/api/slice.h"

namespace heron {

class LineReader {
 public:
  struct Options {
    // A longer line is LineTooLong, never cut. The default fits into a tuple of the default
    // topology.tuple.max.bytes.
    size_t max_line_bytes = (8u << 20) - 1024;
    size_t buffer_bytes = 256u << 10;
  };

  LineReader();  // of nothing: has no lines
  // Opens the file; throws InputError with path and reason: missing, a folder, not a regular file,
  // unreadable.
  LineReader(std::string path, Slice slice, Options options);
  explicit LineReader(std::string path, Slice slice = {})
      : LineReader(std::move(path), slice, Options()) {}
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  // The next line, valid until the next call; nullopt at the end of the slice. Throws InputError or
  // LineTooLong, and then again with each further call.
  std::optional<std::string_view> Next();

  uint64_t offset() const;  // of the line that Next gave last, in the file
  double Progress() const;  // how much of the slice was given, 0 to 1

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heron
