#include "heron/link/credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace heron::link {
namespace {

Result<std::string> ReadOpenSecret(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return ErrnoStatus(errno, "secret file " + path);
  if (!S_ISREG(info.st_mode)) return InvalidArgument("secret file " + path + " is not a file");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Status(StatusCode::kPermissionDenied,
                  "secret file " + path + " is open to group or others; chmod 600 it");
  }
  // One more than expected, to notice a file that is too long.
  std::string secret(kSecretBytes + 1, '\0');
  size_t size = 0;
  while (size < secret.size()) {
    const ssize_t got = read(fd, secret.data() + size, secret.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "secret file " + path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size != kSecretBytes) {
    return InvalidArgument("secret file " + path + " must hold exactly " +
                           std::to_string(kSecretBytes) + " bytes; submit the topology again");
  }
  secret.resize(size);
  return secret;
}

}  // namespace

Result<std::string> ReadSecretFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return ErrnoStatus(errno, "secret file " + path);
  Result<std::string> secret = ReadOpenSecret(fd, path);
  close(fd);
  return secret;
}

}  // namespace heron::link
