#include "tools/cli/new.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "heron/model/names.h"
#include "tools/cli/target.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;

using heron::Status;

constexpr std::string_view kTemplateName = "outside";

std::string WithName(std::string text, const std::string& name) {
  for (size_t at = 0; (at = text.find(kTemplateName, at)) != std::string::npos; at += name.size()) {
    text.replace(at, kTemplateName.size(), name);
  }
  return text;
}

Status WriteFile(const fs::path& path, const std::string& content) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (out) return Status::Ok();
  return heron::ErrnoStatus(errno == 0 ? EIO : errno, "cannot write " + path.string());
}

Status CheckFolder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return Status::Ok();
  if (status.type() == fs::file_type::none) {
    return heron::ErrnoStatus(error.value(), "cannot look at " + folder.string());
  }
  if (!fs::is_directory(status)) {
    return heron::AlreadyExists(folder.string() + " is a file; choose another name");
  }
  const bool empty = fs::is_empty(folder, error);
  if (error) return heron::ErrnoStatus(error.value(), "cannot read the folder " + folder.string());
  if (empty) return Status::Ok();
  return heron::AlreadyExists(folder.string() + " has something in it; choose a new folder");
}

// For a shell.
std::string Word(const std::string& text) {
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_./-+,@%") == std::string::npos) {
    return text;
  }
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Status NewCommand(Cli& cli, const std::string& folder, const std::string& name) {
  std::error_code error;
  fs::path path = fs::absolute(folder, error).lexically_normal();
  if (error || folder.empty()) {
    return heron::InvalidArgument("cannot use the folder " + heron::model::Quoted(folder));
  }
  if (!path.has_filename()) path = path.parent_path();
  const std::string topology = name.empty() ? path.filename().string() : name;
  Status named = CheckName("the topology's name", topology);
  if (!named.ok()) return name.empty() ? named.WithContext("give one with --name") : named;
  HERON_RETURN_IF_ERROR(CheckFolder(path));

  // The first folder that is made here, to be removed if the rest fails.
  fs::path made;
  for (fs::path p = path; !fs::exists(p, error) && p != p.parent_path(); p = p.parent_path()) {
    made = p;
  }
  fs::create_directories(path, error);
  Status status = error
                      ? heron::ErrnoStatus(error.value(), "cannot make the folder " + path.string())
                      : Status::Ok();
  for (const auto& [file, content] : ProjectTemplate()) {
    if (status.ok()) status = WriteFile(path / file, WithName(content, topology));
  }
  if (!status.ok()) {
    for (const auto& [file, content] : ProjectTemplate()) fs::remove(path / file, error);
    if (!made.empty()) fs::remove_all(made, error);
    return status;
  }
  *cli.out << "made the topology " << topology << " in " << path.string() << ". Next:\n  cd "
           << Word(folder) << "\n  make\n  heron submit ./" << topology << " " << topology
           << " --wait=finished -- 1000\n"
           << "README.md there says more." << std::endl;
  return Status::Ok();
}

}  // namespace tools::cli
