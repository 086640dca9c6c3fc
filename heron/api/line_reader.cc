#include "heron/api/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "heron/api/internal/progress.h"

namespace heron {

namespace {

constexpr uint64_t kLinesPerProgress = 64;

[[noreturn]] void Refuse(const std::string& path, const std::string& reason) {
  // As a C string: what(), which people see, ends at a zero byte.
  throw InputError("cannot read '" + std::string(path.c_str()) + "': " + reason);
}

[[noreturn]] void RefuseErrno(const std::string& path, int error) {
  Refuse(path, std::system_category().message(error));
}

// The reason if it is not a regular file.
const char* WhyNotRegular(mode_t mode) {
  if (S_ISREG(mode)) return nullptr;
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a pipe; a reader of slices needs a regular file";
  if (S_ISSOCK(mode)) return "it is a socket; a reader of slices needs a regular file";
  return "it is a device; a reader of slices needs a regular file";
}

// The first byte of part i of n. In 128 bits, since size * i may not fit into 64.
uint64_t Boundary(uint64_t size, int32_t i, int32_t n) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(size) * static_cast<uint64_t>(i) /
                               static_cast<uint64_t>(n));
}

}  // namespace

struct LineReader::State {
  std::string path;
  Options options;
  int fd = -1;
  uint64_t file_bytes = 0;  // when opened
  uint64_t slice_begin = 0;
  uint64_t slice_end = 0;   // lines that begin before it are ours
  bool positioned = false;  // at the slice's first line

  // buffer[head, tail) are the file's bytes from `head_offset`.
  std::vector<char> buffer;
  size_t head = 0;
  size_t tail = 0;
  uint64_t head_offset = 0;
  uint64_t last_line = 0;
  uint64_t lines = 0;  // given

  ~State() {
    if (fd >= 0) ::close(fd);
  }

  void Open(Slice slice);
  size_t Buffered() const { return tail - head; }
  uint64_t TailOffset() const { return head_offset + Buffered(); }
  void Drop(size_t bytes) {
    head += bytes;
    head_offset += bytes;
  }
  void Fill();
  bool SkipToNewline(uint64_t before);
  void Position();
  std::optional<std::string_view> NextLine();
  [[noreturn]] void RefuseLine();
};

void LineReader::State::Open(Slice slice) {
  if (slice.count < 1 || slice.index < 0 || slice.index >= slice.count) {
    Refuse(path, "slice " + std::to_string(slice.index) + " of " + std::to_string(slice.count) +
                     " does not exist");
  }
  if (path.find('\0') != std::string::npos) Refuse(path, "the path contains a zero byte");
  // Non-blocking, so that a pipe without a writer is refused instead of waited for.
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) RefuseErrno(path, errno);
  struct stat info {};
  if (::fstat(fd, &info) != 0) RefuseErrno(path, errno);
  if (const char* why = WhyNotRegular(info.st_mode)) Refuse(path, why);
  file_bytes = static_cast<uint64_t>(info.st_size);
  slice_begin = Boundary(file_bytes, slice.index, slice.count);
  slice_end = Boundary(file_bytes, slice.index + 1, slice.count);
  // A byte earlier: is the slice's first byte also a line's first?
  head_offset = slice_begin > 0 ? slice_begin - 1 : 0;
  positioned = slice_begin == 0;
  last_line = slice_begin;
  buffer.resize(std::max<size_t>(options.buffer_bytes, 16));
}

// Reads more bytes behind those buffered. There are some: TailOffset() < file_bytes.
void LineReader::State::Fill() {
  if (head > 0 && (head == tail || tail == buffer.size())) {
    std::memmove(buffer.data(), buffer.data() + head, Buffered());
    tail -= head;
    head = 0;
  }
  if (tail == buffer.size()) {
    // A line with its newline may fill it; NextLine never asks for more than that.
    buffer.resize(std::min(buffer.size() * 2, options.max_line_bytes + options.buffer_bytes + 16));
  }
  uint64_t left = file_bytes - TailOffset();
  size_t want = static_cast<size_t>(std::min<uint64_t>(buffer.size() - tail, left));
  while (true) {
    ssize_t got = ::pread(fd, buffer.data() + tail, want, static_cast<off_t>(TailOffset()));
    if (got > 0) {
      tail += static_cast<size_t>(got);
      return;
    }
    if (got == 0) {
      Refuse(path, "it had " + std::to_string(file_bytes) +
                       " bytes when opened and now ends at byte " + std::to_string(TailOffset()) +
                       "; do not change an input while it is read");
    }
    if (errno != EINTR) RefuseErrno(path, errno);
  }
}

// Drops bytes up to and with the next newline that lies before offset `before`; false if there is
// none.
bool LineReader::State::SkipToNewline(uint64_t before) {
  while (head_offset < before) {
    if (Buffered() == 0) Fill();
    size_t look = static_cast<size_t>(std::min<uint64_t>(Buffered(), before - head_offset));
    const void* found = std::memchr(buffer.data() + head, '\n', look);
    if (found != nullptr) {
      Drop(static_cast<size_t>(static_cast<const char*>(found) - (buffer.data() + head)) + 1);
      return true;
    }
    Drop(look);
  }
  return false;
}

void LineReader::State::Position() {
  if (positioned) return;
  // Without a newline before the slice's last byte no line begins in it.
  if (slice_begin == slice_end || !SkipToNewline(slice_end - 1)) head_offset = slice_end;
  positioned = true;
}

std::optional<std::string_view> LineReader::State::NextLine() {
  Position();
  if (head_offset >= slice_end) return std::nullopt;
  last_line = head_offset;
  size_t searched = 0;
  while (true) {
    const char* begin = buffer.data() + head;
    const void* found = searched < Buffered()
                            ? std::memchr(begin + searched, '\n', Buffered() - searched)
                            : nullptr;
    bool at_end = found == nullptr && TailOffset() == file_bytes;
    if (found != nullptr || at_end) {
      size_t size = found != nullptr ? static_cast<size_t>(static_cast<const char*>(found) - begin)
                                     : Buffered();
      if (size > options.max_line_bytes) RefuseLine();
      Drop(size + (found != nullptr ? 1 : 0));
      return std::string_view(begin, size);
    }
    searched = Buffered();
    if (searched > options.max_line_bytes) RefuseLine();
    Fill();
  }
}

// Looks on for the end of the line, in bounds, without keeping it.
void LineReader::State::RefuseLine() {
  uint64_t begin = last_line;
  uint64_t most = std::max<uint64_t>(64u << 20, options.max_line_bytes * uint64_t{2});
  uint64_t stop = std::min(file_bytes, begin + most);
  std::vector<char> chunk(64u << 10);
  uint64_t at = begin;
  while (at < stop) {
    size_t want = static_cast<size_t>(std::min<uint64_t>(chunk.size(), stop - at));
    ssize_t got = ::pread(fd, chunk.data(), want, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw LineTooLong(path, begin, at - begin, false, options.max_line_bytes);
    const void* found = std::memchr(chunk.data(), '\n', static_cast<size_t>(got));
    if (found != nullptr) {
      uint64_t size =
          at - begin + static_cast<uint64_t>(static_cast<const char*>(found) - chunk.data());
      throw LineTooLong(path, begin, size, true, options.max_line_bytes);
    }
    at += static_cast<uint64_t>(got);
  }
  throw LineTooLong(path, begin, at - begin, at == file_bytes, options.max_line_bytes);
}

LineReader::LineReader() = default;
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

LineReader::LineReader(std::string path, Slice slice, Options options)
    : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
  state_->options = options;
  state_->Open(slice);
}

std::optional<std::string_view> LineReader::Next() {
  if (!state_) return std::nullopt;
  const std::optional<std::string_view> line = state_->NextLine();
  if (internal::reader_progress != nullptr &&
      (!line || ++state_->lines % kLinesPerProgress == 0)) {
    *internal::reader_progress = Progress();
  }
  return line;
}

uint64_t LineReader::offset() const { return state_ ? state_->last_line : 0; }

double LineReader::Progress() const {
  if (!state_ || state_->slice_end == state_->slice_begin) return 1;
  if (state_->head_offset <= state_->slice_begin) return 0;
  double given = static_cast<double>(state_->head_offset - state_->slice_begin) /
                 static_cast<double>(state_->slice_end - state_->slice_begin);
  return std::min(given, 1.0);
}

}  // namespace heron
