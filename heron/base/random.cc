#include "heron/base/random.h"

#include <glog/logging.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace heron {

std::string RandomBytes(size_t n) {
  std::string out(n, '\0');
  size_t done = 0;
  while (done < n) {
    ssize_t got = getrandom(out.data() + done, n - done, 0);
    if (got < 0) {
      PCHECK(errno == EINTR) << "getrandom";
      continue;
    }
    done += static_cast<size_t>(got);
  }
  return out;
}

uint64_t RandomUint64() {
  std::string bytes = RandomBytes(sizeof(uint64_t));
  uint64_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string ToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char c : bytes) {
    out += kDigits[c >> 4];
    out += kDigits[c & 15];
  }
  return out;
}

}  // namespace heron
