#include "tools/cli/logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "tools/cli/nearest.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;
using heron::Result;
using heron::Status;
using heron::proto::PackingPlan;
using heron::state::TopologyKey;

constexpr size_t kBlock = 64 << 10;
constexpr size_t kMaxTailBytes = 16 << 20;  // of one file, however long its lines are
constexpr heron::Duration kFollowInterval = std::chrono::milliseconds(200);

std::optional<int> AsNumber(const std::string& text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::string ContainerFolder(const std::string& log_folder, int container) {
  return log_folder + "/container-" + std::to_string(container);
}

LogFile TaskFile(const std::string& log_folder, int container,
                 const heron::proto::PlannedTask& task) {
  const std::string name = task.component() + "-" + std::to_string(task.task());
  return {ContainerFolder(log_folder, container) + "/" + name + ".log", name};
}

std::vector<LogFile> AllFiles(const std::string& log_folder) {
  std::vector<LogFile> files;
  std::error_code error;
  if (fs::exists(log_folder + "/supervisor.log", error)) {
    files.push_back({log_folder + "/supervisor.log", "supervisor"});
  }
  std::map<int, std::string> folders;
  for (fs::directory_iterator it(log_folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with("container-")) continue;
    if (auto number = AsNumber(name.substr(10))) folders[*number] = it->path().string();
  }
  for (const auto& [container, folder] : folders) {
    std::set<std::string> names;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".log") names.insert(it->path().stem().string());
    }
    for (const std::string& stem : names) {
      const bool engine = stem == "sm" || stem == "executor";
      files.push_back(
          {folder + "/" + stem + ".log", engine ? stem + ":" + std::to_string(container) : stem});
    }
  }
  return files;
}

std::vector<std::string> ComponentsOf(const PackingPlan& plan) {
  std::vector<std::string> names;
  for (const auto& container : plan.containers()) {
    for (const auto& task : container.tasks()) {
      if (std::find(names.begin(), names.end(), task.component()) == names.end()) {
        names.push_back(task.component());
      }
    }
  }
  return names;
}

// "sm:3", "executor:0"
Result<std::vector<LogFile>> EngineFile(const std::string& log_folder, const PackingPlan& plan,
                                        const std::string& process, const std::string& number) {
  const std::optional<int> container = AsNumber(number);
  bool known = container == 0 && process == "executor";
  for (const auto& planned : plan.containers()) known |= container == planned.container();
  if (!known) {
    return heron::InvalidArgument("no " + process + " of container '" + number + "'; there are " +
                                  process + (process == "sm" ? ":1" : ":0") + " to " + process +
                                  ":" + std::to_string(plan.containers_size()));
  }
  return std::vector<LogFile>{
      {ContainerFolder(log_folder, *container) + "/" + process + ".log", process + ":" + number}};
}

// One file that is read from a position on.
class Tailed {
 public:
  explicit Tailed(LogFile file) : file_(std::move(file)) {}

  const LogFile& file() const { return file_; }
  // The last `lines` lines; later reads begin behind them. Empty while there is no such file.
  std::string Tail(int lines);
  // Complete lines that were added since; a file that was replaced or cut is read from its begin.
  std::string Added();

 private:
  LogFile file_;
  ino_t inode_ = 0;
  off_t position_ = 0;
};

std::string ReadBytes(int fd, off_t begin, off_t end) {
  std::string bytes;
  while (begin < end) {
    char block[kBlock];
    const size_t wanted = std::min<size_t>(sizeof(block), static_cast<size_t>(end - begin));
    const ssize_t got = pread(fd, block, wanted, begin);
    if (got <= 0) break;
    bytes.append(block, static_cast<size_t>(got));
    begin += got;
  }
  return bytes;
}

std::string Tailed::Tail(int lines) {
  const int fd = open(file_.path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  if (fd < 0) return "";
  std::string text;
  if (fstat(fd, &info) == 0) {
    inode_ = info.st_ino;
    position_ = info.st_size;
    off_t begin = info.st_size;
    // One line end more than lines: the one before the first.
    const auto enough = [&] {
      const auto ends = std::count(text.begin(), text.end(), '\n');
      return ends > lines || text.size() >= kMaxTailBytes;
    };
    while (lines > 0 && begin > 0 && !enough()) {
      const off_t from = std::max<off_t>(0, begin - static_cast<off_t>(kBlock));
      text = ReadBytes(fd, from, begin) + text;
      begin = from;
    }
  }
  close(fd);
  if (text.empty()) return text;
  size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  for (int left = lines; left > 0 && at != std::string::npos; --left) {
    at = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  }
  return at == std::string::npos ? text : text.substr(at + 1);
}

std::string Tailed::Added() {
  const int fd = open(file_.path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  if (fd < 0) return "";
  std::string text;
  if (fstat(fd, &info) == 0) {
    if (info.st_ino != inode_ || info.st_size < position_) position_ = 0;
    inode_ = info.st_ino;
    const off_t end = std::min<off_t>(info.st_size, position_ + static_cast<off_t>(kMaxTailBytes));
    text = ReadBytes(fd, position_, end);
    const size_t last = text.rfind('\n');
    // A half line waits for its rest, unless it is endless.
    if (text.size() < kMaxTailBytes) text.resize(last == std::string::npos ? 0 : last + 1);
    position_ += static_cast<off_t>(text.size());
  }
  close(fd);
  return text;
}

void Print(std::ostream& out, const std::string& prefix, const std::string& text) {
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    out << prefix << text.substr(begin, end - begin) << "\n";
    begin = end + 1;
  }
  out.flush();
}

void Follow(Cli& cli, const std::string& log_folder, const LogsOptions& options,
            std::vector<Tailed>* tailed, bool prefixed) {
  while (!cli.interrupted() && cli.out->good()) {
    cli.sleep(kFollowInterval);
    if (options.target.empty()) {
      // Files of processes that came later.
      for (const LogFile& file : AllFiles(log_folder)) {
        const bool known = std::any_of(tailed->begin(), tailed->end(),
                                       [&](const Tailed& t) { return t.file().path == file.path; });
        if (!known) tailed->emplace_back(file);
      }
    }
    for (Tailed& file : *tailed) {
      Print(*cli.out, prefixed ? "[" + file.file().name + "] " : "", file.Added());
    }
    std::error_code error;
    if (!fs::exists(log_folder, error)) {
      *cli.err << "the topology and its logs are gone" << std::endl;
      return;
    }
  }
}

}  // namespace

Result<std::vector<LogFile>> FindLogFiles(const std::string& log_folder, const PackingPlan& plan,
                                          const std::string& target) {
  if (target.empty()) return AllFiles(log_folder);
  if (target == "supervisor") {
    return std::vector<LogFile>{{log_folder + "/supervisor.log", "supervisor"}};
  }
  if (target == "tm") {
    return std::vector<LogFile>{{ContainerFolder(log_folder, 0) + "/tm.log", "tm"}};
  }
  const size_t colon = target.find(':');
  if (colon != std::string::npos) {
    const std::string process = target.substr(0, colon);
    if (process == "sm" || process == "executor") {
      return EngineFile(log_folder, plan, process, target.substr(colon + 1));
    }
  }
  std::string component = target;
  std::optional<int> index;
  if (const size_t bracket = target.find('[');
      bracket != std::string::npos && target.ends_with("]")) {
    component = target.substr(0, bracket);
    index = AsNumber(target.substr(bracket + 1, target.size() - bracket - 2));
    if (!index) return heron::InvalidArgument("'" + target + "': write COMPONENT[INDEX]");
  }
  const std::vector<std::string> components = ComponentsOf(plan);
  const bool is_component =
      std::find(components.begin(), components.end(), component) != components.end();
  const std::optional<int> task_number = is_component ? std::nullopt : AsNumber(target);
  std::vector<LogFile> files;
  for (const auto& container : plan.containers()) {
    for (const auto& task : container.tasks()) {
      const bool meant = task_number ? task.task() == *task_number
                                     : task.component() == component &&
                                           (!index || task.component_index() == *index);
      if (meant) files.push_back(TaskFile(log_folder, container.container(), task));
    }
  }
  if (!files.empty()) return files;
  if (is_component) return heron::InvalidArgument("there is no " + target);
  if (task_number) return heron::InvalidArgument("there is no task " + target);
  return heron::InvalidArgument("no component '" + component + "'" +
                                NearestHint(component, components) +
                                " (also: a task's number, tm, sm:C, executor:C, supervisor)");
}

Status LogsCommand(Cli& cli, const TopologyKey& key, const LogsOptions& options) {
  Result<std::string> id = CurrentId(*cli.store, cli.cluster, key);
  if (!id.ok()) return id.status();
  auto stored = ReadPlan(*cli.store, key);
  if (!stored.ok()) return stored.status();
  const PackingPlan plan = *stored ? (*stored)->value : PackingPlan();
  const std::string folder = cli.scheduler->LogFolder(key, *id);
  Result<std::vector<LogFile>> files = FindLogFiles(folder, plan, options.target);
  if (!files.ok()) return files.status();

  std::vector<Tailed> tailed;
  bool any = false;
  const bool prefixed = files->size() > 1 || options.target.empty();
  for (const LogFile& file : *files) {
    tailed.emplace_back(file);
    std::error_code error;
    any |= fs::exists(file.path, error);
    Print(*cli.out, prefixed ? "[" + file.name + "] " : "", tailed.back().Tail(options.tail));
  }
  if (options.follow) {
    Follow(cli, folder, options, &tailed, prefixed);
    return Status::Ok();
  }
  if (!any) {
    return heron::NotFound("there is no log yet" +
                           (options.target.empty() ? "" : " of " + options.target) + " in " +
                           folder);
  }
  return Status::Ok();
}

}  // namespace tools::cli
