#include "tools/cli/logs.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "heron/model/nearest_hint.h"
#include "tools/cli/log_time.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;
using heron::Result;
using heron::Status;
using heron::proto::PackingPlan;
using heron::state::TopologyKey;

constexpr int kDefaultTail = 100;
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

// Prints whole lines; what comes before the wanted time is left out.
class Printer {
 public:
  Printer(std::ostream& out, std::string prefix) : out_(out), prefix_(std::move(prefix)) {}

  // Lines without a time of their own belong to the line before them.
  void SkipBefore(int64_t since_unix_ms, int64_t now_unix_ms) {
    since_unix_ms_ = since_unix_ms;
    now_unix_ms_ = now_unix_ms;
  }
  bool any_time() const { return any_time_; }

  void Add(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      half_ += text.substr(0, end);
      if (end == std::string_view::npos) return;
      Line(half_);
      half_.clear();
      text.remove_prefix(end + 1);
    }
  }
  void Finish() {
    if (!half_.empty()) Line(half_);
    half_.clear();
    out_.flush();
  }

 private:
  void Line(const std::string& line) {
    if (since_unix_ms_) {
      const std::optional<int64_t> at = LineUnixMs(line, now_unix_ms_);
      any_time_ |= at.has_value();
      if (!at || *at < *since_unix_ms_) return;
      since_unix_ms_.reset();  // from here on everything
    }
    out_ << prefix_ << line << "\n";
  }

  std::ostream& out_;
  const std::string prefix_;
  std::optional<int64_t> since_unix_ms_;
  int64_t now_unix_ms_ = 0;
  bool any_time_ = false;
  std::string half_;
};

int64_t ModifiedUnixMs(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? static_cast<int64_t>(info.st_mtim.tv_sec) * 1000 : 0;
}

std::string Prefix(const LogFile& file, bool prefixed) {
  return prefixed ? "[" + file.name + "] " : "";
}

void PrintFile(Cli& cli, const LogsOptions& options, bool prefixed, LogReader* reader) {
  LogRange range;
  range.older_files = options.previous || options.since.has_value();
  range.lines = options.tail;
  if (!range.lines && !range.older_files) range.lines = kDefaultTail;
  Printer printer(*cli.out, Prefix(reader->file(), prefixed));
  const int64_t now = cli.clock->UnixMillis();
  int64_t since = 0;
  if (options.since) {
    since = now - std::chrono::duration_cast<std::chrono::milliseconds>(*options.since).count();
    printer.SkipBefore(since, now);
  }
  reader->Read(range, [&printer](std::string_view text) { printer.Add(text); });
  printer.Finish();
  if (!options.since || printer.any_time() || ModifiedUnixMs(reader->file().path) < since) return;
  // No line says when it was written; the file does.
  Printer all(*cli.out, Prefix(reader->file(), prefixed));
  if (!range.lines) range = {kDefaultTail, false};
  reader->Read(range, [&all](std::string_view text) { all.Add(text); });
  all.Finish();
}

void Follow(Cli& cli, const std::string& log_folder, const LogsOptions& options,
            std::vector<LogReader>* readers, bool prefixed) {
  while (!cli.interrupted() && cli.out->good()) {
    cli.sleep(kFollowInterval);
    if (options.target.empty()) {
      // Files of processes that came later.
      for (const LogFile& file : AllFiles(log_folder)) {
        const bool known = std::any_of(readers->begin(), readers->end(), [&](const LogReader& r) {
          return r.file().path == file.path;
        });
        if (!known) readers->emplace_back(file);
      }
    }
    for (LogReader& reader : *readers) {
      Printer printer(*cli.out, Prefix(reader.file(), prefixed));
      printer.Add(reader.Added());
      printer.Finish();
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
                                heron::model::NearestHint(component, components) +
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

  std::vector<LogReader> readers;
  bool any = false;
  const bool prefixed = files->size() > 1 || options.target.empty();
  for (const LogFile& file : *files) {
    readers.emplace_back(file);
    std::error_code error;
    any |= fs::exists(file.path, error);
    PrintFile(cli, options, prefixed, &readers.back());
  }
  if (options.follow) {
    Follow(cli, folder, options, &readers, prefixed);
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
