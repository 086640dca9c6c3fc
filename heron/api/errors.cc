#include "heron/api/errors.h"

#include <utility>

namespace heron {

namespace {

std::string Describe(const std::string& path, uint64_t offset, uint64_t size, bool exact,
                     uint64_t limit) {
  return path + ": the line at offset " + std::to_string(offset) + " has " +
         (exact ? "" : "at least ") + std::to_string(size) + " bytes; the limit is " +
         std::to_string(limit) + " (LineReader::Options::max_line_bytes)";
}

}  // namespace

LineTooLong::LineTooLong(std::string path, uint64_t offset, uint64_t size, bool size_is_exact,
                         uint64_t limit)
    : Unrecoverable(Describe(path, offset, size, size_is_exact, limit)),
      path_(std::move(path)),
      offset_(offset),
      size_(size),
      size_is_exact_(size_is_exact),
      limit_(limit) {}

}  // namespace heron
