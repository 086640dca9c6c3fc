#include "scheduler/uploader/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "heron/base/random.h"

namespace scheduler {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new()) {
    CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void Add(const char* data, size_t size) {
    CHECK_EQ(EVP_DigestUpdate(context_.get(), data, size), 1);
  }
  std::string Finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    CHECK_EQ(EVP_DigestFinal_ex(context_.get(), digest, &size), 1);
    return std::string(reinterpret_cast<const char*>(digest), size);
  }

 private:
  std::unique_ptr<EVP_MD_CTX, FreeContext> context_;
};

}  // namespace

std::string Sha256(std::string_view bytes) {
  Hasher hasher;
  hasher.Add(bytes.data(), bytes.size());
  return hasher.Finish();
}

heron::Result<std::string> Sha256OfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return heron::ErrnoStatus(errno, "cannot read " + path);
  Hasher hasher;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      close(fd);
      return heron::ErrnoStatus(error, "cannot read " + path);
    }
    hasher.Add(buffer.data(), static_cast<size_t>(got));
  }
  close(fd);
  return heron::ToHex(hasher.Finish());
}

}  // namespace scheduler
