#include "scheduler/local/supervisor_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace scheduler::local {

using heron::DataLoss;
using heron::ErrnoStatus;
using heron::NotFound;
using heron::Result;
using heron::Status;

namespace {

// Writes and closes. 0 or the errno.
int WriteAndClose(int fd, const std::string& content, unsigned mode) {
  int error = fchmod(fd, mode) != 0 ? errno : 0;
  size_t written = 0;
  while (error == 0 && written < content.size()) {
    const ssize_t n = write(fd, content.data() + written, content.size() - written);
    if (n < 0 && errno != EINTR) error = errno;
    if (n > 0) written += static_cast<size_t>(n);
  }
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

Status WriteFileAtomically(const std::string& path, const std::string& content, unsigned mode) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600
  if (fd < 0) return ErrnoStatus(errno, "cannot write " + path);
  int error = WriteAndClose(fd, content, mode);
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Status::Ok();
  unlink(temporary.c_str());
  return ErrnoStatus(error, "cannot write " + path);
}

Status WriteSupervisorFile(const std::string& path, const SupervisorFile& file) {
  const nlohmann::json json = {{"pid", file.supervisor.pid},
                               {"start_ticks", file.supervisor.start_ticks},
                               {"boot_id", file.supervisor.boot_id},
                               {"topology_id", file.topology_id}};
  return WriteFileAtomically(path, json.dump() + "\n", 0644);
}

Result<SupervisorFile> ReadSupervisorFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) return NotFound(path + ": cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto has = [&json](const char* name, bool number) {
    const auto at = json.find(name);
    return at != json.end() && (number ? at->is_number_unsigned() : at->is_string());
  };
  if (!json.is_object() || !has("pid", true) || !has("start_ticks", true) ||
      !has("boot_id", false) || !has("topology_id", false)) {
    return DataLoss(path + ": not a supervisor's file");
  }
  SupervisorFile file;
  file.supervisor.pid = json["pid"].get<pid_t>();
  file.supervisor.start_ticks = json["start_ticks"].get<uint64_t>();
  file.supervisor.boot_id = json["boot_id"].get<std::string>();
  file.topology_id = json["topology_id"].get<std::string>();
  return file;
}

}  // namespace scheduler::local
