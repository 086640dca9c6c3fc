#include "heron/testing/run_topology.h"

#include <glog/logging.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <utility>

#include "heron/api/internal/builder_access.h"
#include "heron/local/local_definition.h"
#include "heron/local/local_topology.h"
#include "proto/state.pb.h"

namespace heron::testing {
namespace {

using local::LocalTopology;
using proto::ExecutionState;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAskEvery(5);
constexpr std::chrono::seconds kSayStuckEvery(5);

// Wakes the test's thread when something has changed.
class Bell {
 public:
  void Ring() {
    std::lock_guard<std::mutex> lock(mutex_);
    rung_ = true;
    wake_.notify_all();
  }
  // Until rung, or the time has come.
  void Await(steady_clock::time_point until) {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait_until(lock, until, [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool rung_ = false;
};

std::vector<std::pair<std::string, std::string>> OptionsOf(const TopologyOptions& options) {
  std::vector<std::pair<std::string, std::string>> list = {
      {"containers", std::to_string(options.containers)}};
  for (const auto& [component, tasks] : options.parallelism) {
    list.emplace_back("parallelism", component + "=" + std::to_string(tasks));
  }
  for (const auto& [key, value] : options.config) list.emplace_back("config", key + "=" + value);
  return list;
}

TopologyResult Refused(const std::string& reason) {
  TopologyResult result;
  result.state = "REFUSED";
  result.reason = reason;
  return result;
}

void QuietEngineLog() {
  if (google::IsGoogleLoggingInitialized() || std::getenv("GLOG_minloglevel") != nullptr) return;
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
}

// How it ended, or that it did not.
std::string Await(LocalTopology& topology, Bell& bell, const TopologyOptions& options) {
  const auto deadline = steady_clock::now() + options.timeout;
  while (true) {
    const ExecutionState::State state = topology.State().state();
    if (state == ExecutionState::FINISHED || state == ExecutionState::FAILED) {
      return ExecutionState::State_Name(state);
    }
    if (options.until && options.until()) return "STOPPED";
    if (topology.ended() || steady_clock::now() >= deadline) return "TIMED_OUT";
    bell.Await(options.until ? std::min(steady_clock::now() + kAskEvery, deadline) : deadline);
  }
}

void AwaitEnd(LocalTopology& topology, Bell& bell) {
  auto say_at = steady_clock::now() + kSayStuckEvery;
  while (!topology.ended()) {
    bell.Await(say_at);
    if (topology.ended() || steady_clock::now() < say_at) continue;
    say_at += kSayStuckEvery;
    std::cerr << "heron: waiting for user code that does not return:";
    for (const std::string& task : topology.RunningTasks()) std::cerr << " " << task;
    std::cerr << std::endl;
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const TopologyResult& result) {
  out << result.state;
  if (!result.reason.empty()) out << ": " << result.reason;
  for (const std::string& loss : result.incomplete) out << "\n  incomplete: " << loss;
  for (const std::string& failure : result.failures) out << "\n  failure: " << failure;
  return out;
}

TopologyResult RunTopology(const TopologyBuilder& builder, const TopologyOptions& options) {
  std::string mistakes;
  for (const std::string& mistake : heron::internal::BuilderAccess::Mistakes(builder)) {
    mistakes += (mistakes.empty() ? "" : "\n") + mistake;
  }
  if (!mistakes.empty()) return Refused(mistakes);
  auto definition = local::DefineLocal(builder, OptionsOf(options));
  if (!definition.ok()) return Refused(definition.status().message());
  QuietEngineLog();

  Bell bell;
  auto started = LocalTopology::Start({.builder = &builder,
                                       .definition = *std::move(definition),
                                       .arguments = options.arguments,
                                       .changed = [&bell] { bell.Ring(); }});
  if (!started.ok()) return Refused(started.status().message());
  std::unique_ptr<LocalTopology> topology = *std::move(started);
  TopologyResult result;
  result.state = Await(*topology, bell, options);
  if (result.state == "STOPPED" || result.state == "TIMED_OUT") topology->Stop();
  AwaitEnd(*topology, bell);
  const ExecutionState state = topology->State();
  result.reason = state.reason();
  if (result.state == "TIMED_OUT") {
    result.reason = "not ended in time; it was " + ExecutionState::State_Name(state.state()) +
                    (state.waiting_for().empty() ? "" : ", waiting for " + state.waiting_for());
  }
  result.incomplete.assign(state.incomplete().begin(), state.incomplete().end());
  for (const proto::ProcessFailure& failure : state.failures()) {
    result.failures.push_back(failure.reason());
  }
  topology.reset();  // before `bell`
  return result;
}

}  // namespace heron::testing
