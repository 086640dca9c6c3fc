#include "heron/local/run_local.h"

#include <glog/logging.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>

#include "heron/base/exit_codes.h"
#include "heron/local/local_definition.h"
#include "heron/local/local_topology.h"
#include "heron/net/event_loop.h"
#include "proto/state.pb.h"

namespace heron::local {
namespace {

using proto::ExecutionState;

// With what follows, an end within a second.
constexpr Duration kSignalGrace = std::chrono::milliseconds(700);
constexpr Duration kFailureGrace = std::chrono::seconds(2);
constexpr Duration kFinishedPatience = std::chrono::seconds(3);

std::string Count(int number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string SizeText(const scheduler::Definition& definition) {
  int tasks = 0;
  for (const auto& container : definition.plan.containers()) tasks += container.tasks_size();
  return Count(definition.topology.components_size(), "component") + ", " + Count(tasks, "task") +
         ", " + Count(definition.plan.containers_size(), "container");
}

bool Ignored(int signo) {
  struct sigaction action = {};
  return sigaction(signo, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// The user's program may have set it up; then it stays as it is.
void QuietEngineLog() {
  if (google::IsGoogleLoggingInitialized()) return;
  FLAGS_logtostderr = true;
  if (getenv("GLOG_minloglevel") == nullptr) FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging("heron");
}

class Runner {
 public:
  Runner(std::string name, std::ostream& err) : name_(std::move(name)), err_(err) {}

  int Run(LocalTopology::Options options);

 private:
  void Look();
  void OnSignal(int signo);
  void OnState(const ExecutionState& state);
  [[noreturn]] void Leave(int code);
  void SayWaiting();
  int ExitCode() const;
  void Say(const std::string& text) { err_ << "heron: " << name_ << " " << text << std::endl; }

  const std::string name_;
  std::ostream& err_;
  net::EventLoop loop_;
  std::unique_ptr<LocalTopology> topology_;
  ExecutionState::State said_ = ExecutionState::STATE_UNSPECIFIED;
  int signal_ = 0;
};

int Runner::Run(LocalTopology::Options options) {
  const std::string size = SizeText(options.definition);
  options.changed = [this] { loop_.Post([this] { Look(); }); };
  for (const int signo : {SIGINT, SIGTERM}) {
    if (!Ignored(signo)) loop_.HandleSignal(signo, [this, signo] { OnSignal(signo); });
  }
  auto started = LocalTopology::Start(std::move(options));
  if (!started.ok()) {
    Say("cannot start: " + started.status().message());
    return kExitError;
  }
  topology_ = *std::move(started);
  Say("starts in this process: " + size + "; Ctrl-C ends it");
  loop_.Run();
  topology_.reset();
  return ExitCode();
}

int Runner::ExitCode() const {
  if (signal_ != 0) return 128 + signal_;
  return said_ == ExecutionState::FINISHED ? kExitOk : kExitError;
}

void Runner::Look() {
  OnState(topology_->State());
  if (!topology_->ended()) return;
  if (signal_ == 0 && said_ != ExecutionState::FINISHED && said_ != ExecutionState::FAILED) {
    Say("ended without a result");
  }
  loop_.Stop();
}

void Runner::OnState(const ExecutionState& state) {
  if (state.state() == said_ || signal_ != 0) return;
  said_ = state.state();
  switch (said_) {
    case ExecutionState::RUNNING:
      Say("RUNNING");
      break;
    case ExecutionState::FINISHED:
      Say(state.incomplete().empty() ? "FINISHED" : "FINISHED, incomplete:");
      for (const std::string& loss : state.incomplete()) err_ << "  " << loss << std::endl;
      loop_.RunAfter(kFinishedPatience, [this] { SayWaiting(); });
      break;
    case ExecutionState::FAILED:
      Say("FAILED: " + state.reason());
      loop_.RunAfter(kFailureGrace, [this] {
        SayWaiting();
        Leave(kExitError);
      });
      break;
    default:
      break;
  }
}

void Runner::OnSignal(int signo) {
  if (signal_ != 0) Leave(128 + signal_);
  signal_ = signo;
  Say("stops");
  topology_->Stop();
  loop_.RunAfter(kSignalGrace, [this] {
    SayWaiting();
    Leave(128 + signal_);
  });
}

void Runner::SayWaiting() {
  std::string names;
  for (const std::string& task : topology_->RunningTasks()) names += " " + task;
  if (!names.empty()) Say("has user code that does not return:" + names);
}

// Threads cannot be killed; destructors would run while user code goes on.
void Runner::Leave(int code) {
  topology_->RemoveFolder();
  _exit(code);
}

}  // namespace

int RunLocal(const TopologyBuilder& builder, const LocalRun& run, std::ostream& err) {
  auto definition = DefineLocal(builder, run.options);
  if (!definition.ok()) {
    err << "heron: " << definition.status().message() << std::endl;
    return kExitError;
  }
  for (const std::string& notice : definition->notices) {
    err << "heron: note: " << notice << std::endl;
  }
  QuietEngineLog();
  signal(SIGPIPE, SIG_IGN);  // as in an instance of its own
  Runner runner(builder.name(), err);
  return runner.Run(
      {.builder = &builder, .definition = *std::move(definition), .arguments = run.arguments});
}

}  // namespace heron::local
