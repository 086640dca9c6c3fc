#include "scheduler/uploader/local_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>
#include <utility>

#include "heron/base/random.h"
#include "scheduler/uploader/sha256.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using heron::ErrnoStatus;
using heron::Result;
using heron::Status;

constexpr char kTemporaryPrefix[] = ".new-";
constexpr char kProgramPrefix[] = "program-";
constexpr char kEnginePrefix[] = "engine-";

std::string BaseName(const std::string& path) { return fs::path(path).filename().string(); }

// One copy: from and to are closed on every way out.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  // A delayed write error (quota, network disk) shows here.
  int Close() { return close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

Status CopyFile(const std::string& from, const std::string& to) {
  Fd in(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) return ErrnoStatus(errno, "cannot read " + from);
  Fd out(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700));
  if (out.get() < 0) return ErrnoStatus(errno, "cannot write " + to);
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const ssize_t got = read(in.get(), buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "cannot read " + from);
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = write(out.get(), buffer.data() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return ErrnoStatus(errno, "cannot write " + to);
      done += put;
    }
  }
  if (fchmod(out.get(), 0755) != 0 || fsync(out.get()) != 0 || out.Close() != 0) {
    return ErrnoStatus(errno, "cannot write " + to);
  }
  return Status::Ok();
}

Status SyncFolder(const std::string& folder) {
  Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || fsync(fd.get()) != 0) return ErrnoStatus(errno, "cannot sync " + folder);
  return Status::Ok();
}

// The hash of a package: of its files' hashes, and of their names where those matter.
Result<std::string> PackageHash(const std::string& folder, const std::vector<std::string>& files,
                                bool hash_names) {
  if (!hash_names) return Sha256OfFile(folder + "/" + files.front());
  std::string list;
  for (const std::string& file : files) {
    Result<std::string> hash = Sha256OfFile(folder + "/" + file);
    if (!hash.ok()) return hash.status();
    list += file + " " + *hash + "\n";
  }
  return heron::ToHex(Sha256(list));
}

bool IsIntact(const std::string& folder, const std::vector<std::string>& files, bool hash_names,
              const std::string& sha256) {
  for (const std::string& file : files) {
    struct stat info = {};
    if (stat((folder + "/" + file).c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
        (info.st_mode & 0777) != 0755) {
      return false;
    }
  }
  Result<std::string> hash = PackageHash(folder, files, hash_names);
  return hash.ok() && *hash == sha256;
}

// A package folder under its temporary name; removed unless it was given its final one.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  // False with errno when `to` exists already.
  bool RenameTo(const std::string& to) {
    if (rename(path_.c_str(), to.c_str()) != 0) return false;
    path_.clear();
    return true;
  }

 private:
  std::string path_;
};

}  // namespace

PackagesLock::~PackagesLock() { close(fd_); }

LocalFolder::LocalFolder(std::string packages_folder) : folder_(std::move(packages_folder)) {}

Status LocalFolder::MakeFolder() {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return ErrnoStatus(error.value(), "cannot make the packages folder " + folder_);
  return Status::Ok();
}

Result<std::unique_ptr<PackagesLock>> LocalFolder::Lock(int operation, heron::Duration timeout) {
  HERON_RETURN_IF_ERROR(MakeFolder());
  const std::string path = folder_ + "/.lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return ErrnoStatus(errno, "cannot lock the packages folder by " + path);
  auto lock = std::make_unique<PackagesLock>(fd);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  // flock has no timeout; holders keep it for the time of a copy.
  while (flock(fd, operation | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoStatus(errno, "cannot lock " + path);
    if (std::chrono::steady_clock::now() >= deadline) {
      return heron::DeadlineExceeded("the packages folder " + folder_ +
                                     " is in use by another heron command");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return lock;
}

Result<std::unique_ptr<PackagesLock>> LocalFolder::LockShared(heron::Duration timeout) {
  return Lock(LOCK_SH, timeout);
}

Result<std::unique_ptr<PackagesLock>> LocalFolder::LockAlone(heron::Duration timeout) {
  return Lock(LOCK_EX, timeout);
}

std::string LocalFolder::ProgramFolder(const std::string& sha256) const {
  return folder_ + "/" + kProgramPrefix + sha256;
}

std::string LocalFolder::EngineFolder(const std::string& sha256) const {
  return folder_ + "/" + kEnginePrefix + sha256;
}

Result<LocalFolder::Package> LocalFolder::PutProgram(const std::string& program_path) {
  return Put(kProgramPrefix, {program_path}, false);
}

Result<LocalFolder::Package> LocalFolder::PutEngine(const std::vector<std::string>& executables) {
  return Put(kEnginePrefix, executables, true);
}

Result<LocalFolder::Package> LocalFolder::Put(const std::string& kind,
                                              const std::vector<std::string>& files,
                                              bool hash_names) {
  HERON_RETURN_IF_ERROR(MakeFolder());
  std::string temporary = folder_ + "/" + kTemporaryPrefix + "XXXXXX";
  if (mkdtemp(temporary.data()) == nullptr) {
    return ErrnoStatus(errno, "cannot write a package into " + folder_);
  }
  TemporaryFolder fresh(temporary);
  std::vector<std::string> names;
  for (const std::string& file : files) {
    names.push_back(BaseName(file));
    HERON_RETURN_IF_ERROR(CopyFile(file, fresh.path() + "/" + names.back()));
  }
  if (chmod(fresh.path().c_str(), 0755) != 0) {
    return ErrnoStatus(errno, "cannot write a package into " + folder_);
  }
  HERON_RETURN_IF_ERROR(SyncFolder(fresh.path()));
  // Of the copy, not of the original: that may be changing just now.
  Result<std::string> hash = PackageHash(fresh.path(), names, hash_names);
  if (!hash.ok()) return hash.status();
  Package package{*hash, folder_ + "/" + kind + *hash};

  // Three tries: a damaged package is moved out of the way, and others may do the same at the same
  // time.
  for (int round = 0; round < 3; ++round) {
    if (fresh.RenameTo(package.folder)) {
      HERON_RETURN_IF_ERROR(SyncFolder(folder_));
      return package;
    }
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
      return ErrnoStatus(errno, "cannot write the package " + package.folder);
    }
    if (IsIntact(package.folder, names, hash_names, package.sha256)) return package;
    // The same content under another file name shares the folder (a program's hash does not cover
    // its name).
    std::error_code ignored;
    if (!hash_names && fs::is_directory(package.folder, ignored) &&
        !fs::exists(package.folder + "/" + names.front(), ignored)) {
      const std::string from = fresh.path() + "/" + names.front();
      const std::string to = package.folder + "/" + names.front();
      if (rename(from.c_str(), to.c_str()) != 0) {
        return ErrnoStatus(errno, "cannot write the package " + package.folder);
      }
      HERON_RETURN_IF_ERROR(SyncFolder(package.folder));
      return package;
    }
    TemporaryFolder damaged(folder_ + "/" + kTemporaryPrefix + heron::ToHex(heron::RandomBytes(8)));
    rename(package.folder.c_str(), damaged.path().c_str());
  }
  return heron::DataLoss("the package " + package.folder +
                         " is damaged and could not be replaced; remove it");
}

Result<std::vector<std::string>> LocalFolder::Sweep(const InUse& in_use) {
  std::vector<std::string> removed;
  std::error_code error;
  fs::directory_iterator entries(folder_, error);
  if (error == std::errc::no_such_file_or_directory) return removed;
  if (error) return ErrnoStatus(error.value(), "cannot read " + folder_);
  std::vector<std::string> names;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (error) return ErrnoStatus(error.value(), "cannot read " + folder_);
  for (const std::string& name : names) {
    const bool left_over = name.starts_with(kTemporaryPrefix);
    const bool unused_program = name.starts_with(kProgramPrefix) &&
                                !in_use.programs.contains(name.substr(sizeof(kProgramPrefix) - 1));
    const bool unused_engine = name.starts_with(kEnginePrefix) &&
                               !in_use.engines.contains(name.substr(sizeof(kEnginePrefix) - 1));
    if (!left_over && !unused_program && !unused_engine) continue;
    fs::remove_all(folder_ + "/" + name, error);
    if (error)
      return ErrnoStatus(error.value(), "cannot remove the package " + folder_ + "/" + name);
    if (!left_over) removed.push_back(name);
  }
  return removed;
}

}  // namespace scheduler
