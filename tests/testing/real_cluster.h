// A local cluster of real processes in a folder of its own, driven through the real `heron` command.
//
// Thread: the test's. Everything it started is dead after the destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heron::testing {

struct CommandResult {
  int exit_code = -1;   // 128 + n when killed by signal n
  bool timed_out = false;
  std::string out;
  std::string err;
};

struct LiveProcess {
  int pid = 0;
  char state = '?';
  std::string command_line;  // arguments joined by spaces
  std::string topology_id;
};

// Ports of 127.0.0.1 or other addresses on which the process listens: "0100007F:1F90" as /proc/net/tcp writes them.
std::vector<std::string> ListeningAddresses(int pid);

// Runs until it ends or the timeout kills it (its whole process group). stdin is /dev/null.
CommandResult RunCommand(const std::vector<std::string>& argv,
                         const std::map<std::string, std::string>& environment,
                         std::chrono::milliseconds timeout);

// Polls `condition` until it holds; false after the timeout.
bool Eventually(std::chrono::milliseconds timeout, const std::function<bool()>& condition);

class RealCluster {
 public:
  // The tools lie in the test's runfiles.
  RealCluster();
  ~RealCluster();
  RealCluster(const RealCluster&) = delete;

  const std::string& root() const { return root_; }        // HERON_ROOT
  const std::string& folder() const { return folder_; }    // for inputs and outputs of the test
  std::string Program(const std::string& label) const;     // "examples/wordcount/wordcount" in the runfiles

  CommandResult Heron(const std::vector<std::string>& arguments,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60));
  // Set for each command from now on.
  void SetEnvironment(const std::string& name, const std::string& value) { environment_[name] = value; }

  // Live ones (not zombies) of this cluster whose command line contains `part`.
  std::vector<LiveProcess> Processes(const std::string& part = "") const;
  // The one process whose command line contains all parts; 0 if there is none or several.
  int PidOf(const std::vector<std::string>& parts) const;

  // "RUNNING", from `heron topologies NAME --output json`; the whole output if there is none.
  std::string State(const std::string& name);
  // Sum of the tuples that the tasks of a topology have executed, as reported last.
  int64_t ExecutedTuples(const std::string& name);

  std::string WriteFile(const std::string& name, const std::string& content);  // returns the path
  static std::string ReadFile(const std::string& path);
  // All log files of a topology, for the message of a failing assertion.
  std::string Logs(const std::string& name) const;

 private:
  std::string folder_;
  std::string root_;
  std::map<std::string, std::string> environment_;
  std::string runfiles_;
};

// What examples/wordcount must write for `text`: "word<TAB>count", most frequent first, ties in byte order.
std::string ExpectedWordCount(const std::string& text);

}  // namespace heron::testing
