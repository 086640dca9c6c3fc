// Measures the topology `words` by real processes and prints one JSON line per run: CPU time of
// each kind of process, tuples per CPU second of all processes together, tuples per second from the
// first that runs to the last that has finished; the answer checked.
//
//   word_count [--tuples=N] [--vocabulary=N] [--spouts=N] [--bolts=N] [--containers=N] [--acked]
//   [--runs=N]
#include <dirent.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/testing/real_cluster.h"

DEFINE_int64(tuples, 20'000'000, "tuples of all spout tasks together");
DEFINE_int64(vocabulary, 1'000, "distinct words");
DEFINE_int32(spouts, 1, "spout tasks");
DEFINE_int32(bolts, 1, "bolt tasks");
DEFINE_int32(containers, 1, "containers");
DEFINE_bool(acked, false, "at-least-once, every tuple with a message id");
DEFINE_string(pending, "auto", "topology.max.spout.pending");
DEFINE_int32(runs, 1, "how often");

namespace heron::testing {
namespace {

// Nanoseconds on a CPU, of all threads that are alive: a thread's time is gone with it.
int64_t CpuNs(int pid) {
  int64_t sum = 0;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  DIR* tasks = opendir(folder.c_str());
  if (tasks == nullptr) return 0;
  while (const dirent* entry = readdir(tasks)) {
    int64_t ns = 0;
    if (std::ifstream(folder + "/" + entry->d_name + "/schedstat") >> ns) sum += ns;
  }
  closedir(tasks);
  return sum;
}

std::string KindOf(const std::string& command_line) {
  for (const char* kind :
       {"heron-supervisor", "heron-executor", "heron-topology-master", "heron-stream-manager"}) {
    if (command_line.find(kind) != std::string::npos &&
        command_line.find("--heron-instance") == std::string::npos) {
      return std::string(kind).substr(6);
    }
  }
  if (command_line.find("--heron-component=words") != std::string::npos) return "spout";
  return "bolt";
}

struct Figures {
  double wall_s = 0;
  std::map<std::string, double> cpu_s;
  std::string wrong;  // empty: the answer is right
};

Figures Measure(RealCluster& cluster, int run) {
  const std::string name = "w" + std::to_string(run), folder = cluster.folder() + "/" + name;
  std::filesystem::create_directory(folder);
  const int64_t each = FLAGS_tuples / FLAGS_spouts;
  Figures figures;
  std::vector<std::string> words = {"submit",
                                    "local",
                                    cluster.Program("tests/benchmarks/words"),
                                    name,
                                    "--wait=running",
                                    "--deploy-deactivated",
                                    "--containers",
                                    std::to_string(FLAGS_containers),
                                    "--parallelism",
                                    "words=" + std::to_string(FLAGS_spouts),
                                    "--parallelism",
                                    "count=" + std::to_string(FLAGS_bolts),
                                    "--config",
                                    "topology.max.spout.pending=" + FLAGS_pending,
                                    "--",
                                    std::to_string(each),
                                    std::to_string(FLAGS_vocabulary),
                                    folder};
  if (FLAGS_acked) words.push_back("acked");
  const CommandResult submitted = cluster.Heron(words);
  if (submitted.exit_code != 0) {
    figures.wrong = submitted.err;
    return figures;
  }
  std::map<int, std::string> kinds;
  std::map<int, int64_t> before, after;
  for (const LiveProcess& process : cluster.Processes()) {
    kinds[process.pid] = KindOf(process.command_line);
    before[process.pid] = CpuNs(process.pid);
  }
  const auto start = std::chrono::steady_clock::now();
  cluster.Heron({"activate", name});
  // What a process used in its last 5 ms is not seen.
  bool bolts_alive = true;
  while (bolts_alive) {
    bolts_alive = false;
    for (const auto& [pid, kind] : kinds) {
      const int64_t now = CpuNs(pid);
      after[pid] = std::max(after[pid], now);
      if (kind == "bolt" && now > 0) bolts_alive = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  figures.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const auto& [pid, kind] : kinds) {
    figures.cpu_s[kind] +=
        static_cast<double>(std::max<int64_t>(0, after[pid] - before[pid])) / 1e9;
  }
  const CommandResult ended = cluster.Heron({"wait", name, "--timeout", "60s"});
  int64_t counted = 0;
  for (int i = 0; i < FLAGS_bolts; ++i) {
    int64_t tuples = 0;
    std::ifstream(folder + "/count-" + std::to_string(i)) >> tuples;
    counted += tuples;
  }
  if (ended.exit_code != 0 || (ended.out + ended.err).find("incomplete") != std::string::npos) {
    figures.wrong = ended.out + ended.err;
  } else if (counted != each * FLAGS_spouts) {
    figures.wrong = "counted " + std::to_string(counted);
  }
  cluster.Heron({"kill", name});
  return figures;
}

void Print(const Figures& figures) {
  double cpu = 0;
  std::ostringstream by_kind, ns;
  const double tuples = static_cast<double>(FLAGS_tuples / FLAGS_spouts * FLAGS_spouts);
  for (const auto& [kind, seconds] : figures.cpu_s) {
    cpu += seconds;
    by_kind << (by_kind.tellp() > 0 ? ", " : "") << '"' << kind << "\": " << seconds;
    ns << (ns.tellp() > 0 ? ", " : "") << '"' << kind << "\": " << seconds * 1e9 / tuples;
  }
  std::cout << "{\"benchmark\": \"word_count\", \"acked\": " << (FLAGS_acked ? "true" : "false")
            << ", \"tuples\": " << FLAGS_tuples << ", \"vocabulary\": " << FLAGS_vocabulary
            << ", \"spouts\": " << FLAGS_spouts << ", \"bolts\": " << FLAGS_bolts
            << ", \"containers\": " << FLAGS_containers
            << ", \"right\": " << (figures.wrong.empty() ? "true" : "false")
            << ", \"wall_s\": " << figures.wall_s
            << ", \"m_tuples_per_s\": " << tuples / 1e6 / figures.wall_s << ", \"cpu_s\": {"
            << by_kind.str() << "}, \"ns_per_tuple\": {" << ns.str()
            << "}, \"m_tuples_per_cpu_s\": " << tuples / 1e6 / cpu << "}" << std::endl;
  if (!figures.wrong.empty()) std::cerr << "wrong: " << figures.wrong << "\n";
}

}  // namespace
}  // namespace heron::testing

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  heron::testing::RealCluster cluster;
  bool right = true;
  for (int run = 0; run < FLAGS_runs; ++run) {
    const heron::testing::Figures figures = heron::testing::Measure(cluster, run);
    heron::testing::Print(figures);
    right = right && figures.wrong.empty();
  }
  return right ? 0 : 1;
}
