#include "tools/cli/logs.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <deque>
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
using heron::proto::ExecutionState;
using heron::proto::PackingPlan;
using heron::state::TopologyKey;

constexpr int kDefaultTail = 100;
constexpr heron::Duration kFollowInterval = std::chrono::milliseconds(200);
// How often it is looked whether more will come.
constexpr heron::Duration kEndInterval = std::chrono::seconds(1);
constexpr size_t kMostNamed = 8;

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

std::string ContainersText(const PackingPlan& plan, const std::string& process) {
  return process + (process == "sm" ? ":1" : ":0") + " to " + process + ":" +
         std::to_string(plan.containers_size());
}

// "a, b, c and 4 more"
std::string ListText(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostNamed; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMostNamed) {
    text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  }
  return text;
}

// "sm", "executor": of all containers.
std::vector<LogFile> EngineFiles(const std::string& log_folder, const PackingPlan& plan,
                                 const std::string& process) {
  std::set<int> containers;
  if (process == "executor") containers.insert(0);
  for (const auto& planned : plan.containers()) containers.insert(planned.container());
  std::vector<LogFile> files;
  for (int container : containers) {
    files.push_back({ContainerFolder(log_folder, container) + "/" + process + ".log",
                     process + ":" + std::to_string(container)});
  }
  return files;
}

// "sm:3", "executor:0"
Result<std::vector<LogFile>> EngineFile(const std::string& log_folder, const PackingPlan& plan,
                                        const std::string& process, const std::string& number) {
  const std::optional<int> container = AsNumber(number);
  bool known = container == 0 && process == "executor";
  for (const auto& planned : plan.containers()) known |= container == planned.container();
  if (!known) {
    return heron::InvalidArgument("no " + process + " of container '" + number + "'; there are " +
                                  ContainersText(plan, process));
  }
  return std::vector<LogFile>{
      {ContainerFolder(log_folder, *container) + "/" + process + ".log", process + ":" + number}};
}

// Prints whole lines; what comes before the wanted time, or is not bad enough, is left out.
class Printer {
 public:
  Printer(std::ostream& out, std::string prefix, std::optional<LogLevel> level)
      : out_(out), prefix_(std::move(prefix)), level_(level) {}

  // Lines without a time of their own belong to the line before them.
  void SkipBefore(int64_t since_unix_ms, int64_t now_unix_ms) {
    since_unix_ms_ = since_unix_ms;
    now_unix_ms_ = now_unix_ms;
  }
  // Only the last ones of those that would be printed, at Finish.
  void KeepLast(int lines) { keep_ = lines; }
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
    for (const std::string& line : kept_) out_ << prefix_ << line << "\n";
    kept_.clear();
    keep_.reset();
    out_.flush();
  }

 private:
  bool BadEnough(const std::string& line) {
    if (!level_) return true;
    const bool goes_on = !line.empty() && (line[0] == ' ' || line[0] == '\t');
    const std::optional<LogLevel> own = LineLevel(line);
    if (own || !goes_on) before_ = own.value_or(LogLevel::kInfo);
    return before_ >= *level_;
  }
  void Line(const std::string& line) {
    if (since_unix_ms_) {
      const std::optional<int64_t> at = LineUnixMs(line, now_unix_ms_);
      any_time_ |= at.has_value();
      if (!at || *at < *since_unix_ms_) return;
      since_unix_ms_.reset();  // from here on everything
    }
    if (!BadEnough(line)) return;
    if (!keep_) {
      out_ << prefix_ << line << "\n";
      return;
    }
    kept_.push_back(line);
    if (kept_.size() > static_cast<size_t>(*keep_)) kept_.pop_front();
  }

  std::ostream& out_;
  const std::string prefix_;
  const std::optional<LogLevel> level_;
  LogLevel before_ = LogLevel::kInfo;  // of the line before
  std::optional<int64_t> since_unix_ms_;
  int64_t now_unix_ms_ = 0;
  bool any_time_ = false;
  std::optional<int> keep_;
  std::deque<std::string> kept_;
  std::string half_;
};

int64_t ModifiedUnixMs(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? static_cast<int64_t>(info.st_mtim.tv_sec) * 1000 : 0;
}

std::string Prefix(const LogFile& file, bool prefixed) {
  return prefixed ? "[" + file.name + "] " : "";
}

struct ShownFile {
  LogReader reader;
  Printer printer;
};

ShownFile Shown(Cli& cli, const LogFile& file, const LogsOptions& options, bool prefixed) {
  return {LogReader(file), Printer(*cli.out, Prefix(file, prefixed), options.level)};
}

// Only lines that are bad enough count for the tail, so that all of them must be read.
void ReadFile(const LogsOptions& options, LogRange range, ShownFile* shown) {
  if (options.level && range.lines) {
    shown->printer.KeepLast(*range.lines);
    range.lines.reset();
  }
  shown->reader.Read(range, [shown](std::string_view text) { shown->printer.Add(text); });
  shown->printer.Finish();
}

void PrintFile(Cli& cli, const LogsOptions& options, bool prefixed, ShownFile* shown) {
  LogRange range;
  range.older_files = options.previous || options.since.has_value();
  range.lines = options.tail;
  if (!range.lines && !range.older_files) range.lines = kDefaultTail;
  const int64_t now = cli.clock->UnixMillis();
  int64_t since = 0;
  if (options.since) {
    since = now - std::chrono::duration_cast<std::chrono::milliseconds>(*options.since).count();
    shown->printer.SkipBefore(since, now);
  }
  ReadFile(options, range, shown);
  const std::string& path = shown->reader.file().path;
  if (!options.since || shown->printer.any_time() || ModifiedUnixMs(path) < since) return;
  // No line says when it was written; the file does.
  ShownFile all = Shown(cli, shown->reader.file(), options, prefixed);
  if (!range.lines) range = {kDefaultTail, false};
  ReadFile(options, range, &all);
}

// Nothing more will be written: "FINISHED", "FAILED"; else empty.
std::string EndedAs(Cli& cli, const TopologyKey& key, const std::string& id) {
  auto execution = ReadExecution(*cli.store, key);
  if (!execution.ok() || !*execution || (*execution)->value.topology_id() != id) return "";
  const auto state = (*execution)->value.state();
  if (state != ExecutionState::FINISHED && state != ExecutionState::FAILED) return "";
  auto processes = cli.scheduler->Processes(id);
  return processes.ok() && processes->empty() ? ExecutionState::State_Name(state) : "";
}

void Follow(Cli& cli, const TopologyKey& key, const std::string& id, const LogsOptions& options,
            std::vector<ShownFile>* files, bool prefixed) {
  const std::string log_folder = cli.scheduler->LogFolder(key, id);
  heron::MonotonicTime next_look = cli.clock->Now() + kEndInterval;
  for (std::string ended; ended.empty() && !cli.interrupted() && cli.out->good();) {
    cli.sleep(kFollowInterval);
    // Before the last lines are read.
    if (cli.clock->Now() >= next_look) {
      ended = EndedAs(cli, key, id);
      next_look = cli.clock->Now() + kEndInterval;
    }
    if (options.target.empty()) {
      // Files of processes that came later.
      for (const LogFile& file : AllFiles(log_folder)) {
        const bool known = std::any_of(files->begin(), files->end(), [&](const ShownFile& shown) {
          return shown.reader.file().path == file.path;
        });
        if (!known) files->push_back(Shown(cli, file, options, prefixed));
      }
    }
    for (ShownFile& shown : *files) {
      shown.printer.Add(shown.reader.Added());
      shown.printer.Finish();
    }
    std::error_code error;
    if (!fs::exists(log_folder, error)) {
      *cli.err << "the topology and its logs are gone" << std::endl;
      return;
    }
    if (!ended.empty()) {
      *cli.err << key.name << " has " << ended << ", its logs end here" << std::endl;
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
  const std::vector<std::string> components = ComponentsOf(plan);
  const auto is_component_name = [&components](const std::string& name) {
    return std::find(components.begin(), components.end(), name) != components.end();
  };
  if ((target == "sm" || target == "executor") && !is_component_name(target)) {
    return EngineFiles(log_folder, plan, target);
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
  const bool is_component = is_component_name(component);
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
  const std::string also = "; there are the components " + ListText(components) +
                           ", their tasks (" + (components.empty() ? "split" : components[0]) +
                           "[0], or a number), tm, " + ContainersText(plan, "sm") + ", " +
                           ContainersText(plan, "executor") + " and supervisor";
  if (is_component) {
    int tasks = 0;
    for (const auto& container : plan.containers()) {
      for (const auto& task : container.tasks()) tasks += task.component() == component;
    }
    return heron::InvalidArgument("there is no " + target + "; the last task of " + component +
                                  " is " + component + "[" + std::to_string(tasks - 1) + "]");
  }
  if (task_number) return heron::InvalidArgument("there is no task " + target + also);
  const std::string hint = heron::model::NearestHint(component, components);
  const bool near = hint.find("did you mean") != std::string::npos;
  return heron::InvalidArgument("no component '" + component + "'" + (near ? hint : "") + also);
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

  std::vector<ShownFile> shown;
  bool any = false;
  const bool prefixed = files->size() > 1 || options.target.empty();
  for (const LogFile& file : *files) {
    shown.push_back(Shown(cli, file, options, prefixed));
    std::error_code error;
    any |= fs::exists(file.path, error);
    PrintFile(cli, options, prefixed, &shown.back());
  }
  if (options.follow) {
    Follow(cli, key, *id, options, &shown, prefixed);
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
