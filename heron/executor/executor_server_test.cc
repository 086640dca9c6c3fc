// The real heron-executor with stand-ins for its children; the test itself plays the topology master.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "heron/base/exit_codes.h"
#include "heron/base/process.h"
#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/state/paths.h"
#include "heron/state/state_store.h"
#include "proto/master.pb.h"
#include "proto/state.pb.h"

namespace heron::executor {
namespace {

namespace fs = std::filesystem;
using link::Session;

const char kSecret[] = "0123456789abcdef0123456789abcdef";

// Answers every report with the same plan, as a topology master does.
class FakeMaster : public link::SessionHandler {
 public:
  FakeMaster(net::EventLoop& loop, const std::string& topology_id, state::StateStore& store,
             const std::string& lease_path) {
    link::SessionListener::Options options;
    options.self = link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {100, 0});
    options.credentials = {"words", topology_id, kSecret};
    options.lanes[proto::EXECUTOR] = {proto::CONTROL};
    auto listener = link::SessionListener::Listen(loop, options, this);
    CHECK(listener.ok()) << listener.status().ToString();
    listener_ = std::move(listener).value();
    proto::MasterLocation location;
    location.set_topology_id(topology_id);
    location.set_host("127.0.0.1");
    location.set_port(listener_->port());
    state::LeaseOptions lease;
    lease.payload = location.SerializeAsString();
    lease.lease = std::chrono::milliseconds(300);
    lease_ = store.Contend(lease_path, lease, {[](uint64_t) {}, [] {}});
  }

  void Command(proto::ContainerPlan::Command command, uint64_t mastership = 1) {
    plan.set_command(command);
    plan.set_mastership_epoch(mastership);
    plan.set_incarnation(1);
    plan.clear_tasks();
    for (const int task : {7, 8}) {
      proto::PlannedTask* planned = plan.add_tasks();
      planned->set_task(task);
      planned->set_component("count");
      planned->set_component_index(task - 7);
    }
    if (session != nullptr) session->Send(proto::CONTROL, proto::CONTAINER_PLAN, plan);
  }
  // The pid of a running child, 0 if it is not running.
  pid_t PidOf(const std::string& process, int task) const {
    for (const proto::ChildState& child : report.children()) {
      if (child.process() == process && child.task() == task && child.running()) {
        return static_cast<pid_t>(child.pid());
      }
    }
    return 0;
  }

  proto::ContainerPlan plan;
  proto::ExecutorReport report;
  int reports = 0;
  int sessions = 0;
  Session* session = nullptr;

 private:
  void OnSessionUp(Session& up) override {
    session = &up;
    ++sessions;
  }
  void OnFrame(Session& from, proto::Lane, net::Frame frame) override {
    if (frame.type != proto::EXECUTOR_REPORT) return;
    ASSERT_TRUE(net::ParseBody(frame.body(), report).ok());
    ++reports;
    if (plan.command() != proto::ContainerPlan::COMMAND_UNSPECIFIED) {
      from.Send(proto::CONTROL, proto::CONTAINER_PLAN, plan);
    }
  }
  void OnSessionDown(Session&, const Status&) override { session = nullptr; }

  std::unique_ptr<link::SessionListener> listener_;
  std::unique_ptr<state::Lease> lease_;
};

class ExecutorServerTest : public testing::Test {
 protected:
  ExecutorServerTest() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(testing::TempDir()) / name;
    fs::remove_all(root_);
    fs::create_directories(root_ / "engine");
    for (const char* file : {"heron-stream-manager", "heron-topology-master", "program"}) {
      fs::create_symlink(fs::absolute("heron/executor/executor_test_child"),
                         root_ / "engine" / file);
    }
    std::ofstream(root_ / "secret") << kSecret;
    fs::permissions(root_ / "secret", fs::perms::owner_read | fs::perms::owner_write);
    topology_id_ = "words-" + std::to_string(getpid()) + name;
    auto store = state::OpenStateStore(StateUrl());
    CHECK(store.ok()) << store.status().ToString();
    store_ = std::move(store).value();
    SetDesire(proto::DesiredState::ACTIVE);
  }
  ~ExecutorServerTest() override {
    for (const FoundProcess& process : Processes()) {
      SignalProcess(process.identity, SIGKILL).IgnoreError();
    }
    RunUntil([this] { return Processes().empty(); });
    while (ReapChild().has_value()) {
    }
  }

  std::string StateUrl() const { return "file:" + (root_ / "state").string(); }
  std::vector<FoundProcess> Processes() const {
    return FindProcesses("HERON_TOPOLOGY_ID=" + topology_id_);
  }
  void SetDesire(proto::DesiredState::Desire desire) {
    proto::DesiredState state;
    state.set_topology_id(topology_id_);
    state.set_desire(desire);
    const std::string path = state::DesiredPath(key_);
    const auto now = store_->Get(path);
    const auto written = now.ok() ? store_->Set(path, state.SerializeAsString(), now->version)
                                  : store_->Create(path, state.SerializeAsString());
    CHECK(written.ok()) << written.status().ToString();
  }
  void WriteTopology(const std::string& behaviour) {
    proto::SubmittedTopology topology;
    topology.set_topology_id(topology_id_);
    topology.add_arguments(behaviour);
    ASSERT_TRUE(store_->Create(state::TopologyPath(key_), topology.SerializeAsString()).ok());
  }
  std::unique_ptr<FakeMaster> Master() {
    return std::make_unique<FakeMaster>(loop_, topology_id_, *store_, state::MasterPath(key_));
  }
  fs::path ContainerFolder() const { return root_ / "container"; }
  void StartExecutor(int container) {
    SpawnOptions spawn;
    spawn.argv = {fs::absolute("heron/executor/heron-executor").string(),
                  "--topology=words",
                  "--topology_id=" + topology_id_,
                  "--role=ads",
                  "--env=prod",
                  "--state=" + StateUrl(),
                  "--container=" + std::to_string(container),
                  "--secret_file=" + (root_ / "secret").string(),
                  "--engine_folder=" + (root_ / "engine").string(),
                  "--program=" + (root_ / "engine/program").string(),
                  "--container_folder=" + ContainerFolder().string()};
    spawn.environment = OwnEnvironment();
    spawn.environment["HERON_TOPOLOGY_ID"] = topology_id_;
    if (!settings_.empty()) spawn.environment["HERON_SETTINGS"] = settings_;
    spawn.log_file = (root_ / "executor.log").string();
    const auto started = SpawnProcess(spawn);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    executor_ = *started;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Runs the loop until the condition holds; fails after 30 s.
  bool RunUntil(const std::function<bool()>& condition) {
    bool holds = false;
    const net::TimerId poll = loop_.RunEvery(std::chrono::milliseconds(5), [&] {
      holds = condition();
      if (holds) loop_.Stop();
    });
    const net::TimerId limit = loop_.RunAfter(std::chrono::seconds(30), [&] { loop_.Stop(); });
    loop_.Run();
    loop_.CancelTimer(poll);
    loop_.CancelTimer(limit);
    EXPECT_TRUE(holds) << Read(root_ / "executor.log");
    return holds;
  }
  int ExitCodeOfExecutor() {
    EndedChild ended;
    RunUntil([&] {
      while (const auto one = ReapChild()) {
        if (one->pid == executor_.pid) ended = *one;
      }
      return ended.pid != 0;
    });
    return ended.exit_code;
  }
  bool AllRun(const FakeMaster& master) {
    return master.PidOf("stream-manager", 0) != 0 && master.PidOf("instance", 7) != 0 &&
           master.PidOf("instance", 8) != 0;
  }
  // Starts everything of container 1.
  std::unique_ptr<FakeMaster> RunContainer(const std::string& behaviour) {
    WriteTopology(behaviour);
    auto master = Master();
    master->Command(proto::ContainerPlan::RUN);
    StartExecutor(1);
    RunUntil([&] { return AllRun(*master); });
    return master;
  }

  const state::TopologyKey key_{"ads", "prod", "words"};
  std::string settings_;  // HERON_SETTINGS of the executor
  fs::path root_;
  std::string topology_id_;
  std::shared_ptr<state::StateStore> store_;
  net::EventLoop loop_;
  ProcessIdentity executor_;
};

TEST_F(ExecutorServerTest, RunsThePlanAndTellsInstancesTheStreamManager) {
  auto master = RunContainer("run");
  EXPECT_EQ(master->report.container(), 1);
  EXPECT_EQ(master->report.nonce().size(), 16u);
  EXPECT_EQ(master->report.incarnation(), 1u);
  EXPECT_EQ(master->report.failures_size(), 0);
  RunUntil([&] {
    return Read(ContainerFolder() / "count-7.log").find("stream manager at 12345\n") !=
           std::string::npos;
  });
  EXPECT_EQ(Read(ContainerFolder() / "count-7.log").find("--- started by heron "), 0u);
  EXPECT_TRUE(fs::exists(ContainerFolder() / "sm.log"));
}

TEST_F(ExecutorServerTest, LogsOfChattyChildrenAreRotated) {
  settings_ = "heron.log.max.bytes=4096,heron.log.max.files=2";
  auto master = RunContainer("chatter");
  const pid_t instance = master->PidOf("instance", 7);
  const fs::path log = ContainerFolder() / "count-7.log";
  RunUntil([&] { return fs::exists(log.string() + ".1"); });
  // Rotated again, and the same process writes on.
  const std::string first = Read(log.string() + ".1");
  RunUntil([&] { return Read(log.string() + ".1") != first; });
  const std::string rotated = Read(log.string() + ".1");
  EXPECT_GT(rotated.size(), 4096u - 512u);
  RunUntil([&] { return Read(log).find(std::string(99, 'x') + "\n") != std::string::npos; });
  EXPECT_EQ(Read(log).find('\0'), std::string::npos) << "no holes";
  EXPECT_EQ(master->PidOf("instance", 7), instance);
  EXPECT_FALSE(fs::exists(log.string() + ".2"));
}

TEST_F(ExecutorServerTest, KilledInstanceIsReportedAndRestarted) {
  auto master = RunContainer("run");
  const pid_t first = master->PidOf("instance", 7);
  ASSERT_EQ(kill(first, SIGKILL), 0);
  RunUntil([&] {
    return master->report.failures_size() == 1 && master->PidOf("instance", 7) != 0 &&
           master->PidOf("instance", 7) != first;
  });
  const proto::ProcessFailure& failure = master->report.failures(0);
  EXPECT_EQ(failure.task(), 7);
  EXPECT_EQ(failure.signal(), SIGKILL);
  EXPECT_EQ(failure.reason().find("killed by signal 9 (Killed)"), 0u) << failure.reason();
  master->plan.set_acknowledged_failure(failure.number());
  RunUntil([&] { return master->report.failures_size() == 0; });
}

TEST_F(ExecutorServerTest, LastWordsAreTheReason) {
  WriteTopology("last-words");
  auto master = Master();
  master->Command(proto::ContainerPlan::RUN);
  StartExecutor(1);
  RunUntil([&] { return master->report.failures_size() >= 2; });
  EXPECT_EQ(master->report.failures(0).reason(), "cannot open the input");
  EXPECT_EQ(master->report.failures(0).exit_code(), kExitUserError);
}

TEST_F(ExecutorServerTest, StopEndsAllAndExitsZero) {
  auto master = RunContainer("ignore-term");
  master->Command(proto::ContainerPlan::STOP);
  EXPECT_EQ(ExitCodeOfExecutor(), kExitOk);
  EXPECT_TRUE(Processes().empty());
}

TEST_F(ExecutorServerTest, FencedExitsFenced) {
  auto master = RunContainer("ignore-term");
  master->Command(proto::ContainerPlan::FENCED);
  EXPECT_EQ(ExitCodeOfExecutor(), kExitFenced);
  EXPECT_TRUE(Processes().empty());
}

TEST_F(ExecutorServerTest, KilledExecutorTakesItsChildrenWithIt) {
  auto master = RunContainer("ignore-term");
  ASSERT_TRUE(SignalProcess(executor_, SIGKILL).ok());
  RunUntil([this] { return Processes().empty(); });
}

TEST_F(ExecutorServerTest, SigtermEndsItButNotForGood) {
  auto master = RunContainer("run");
  ASSERT_TRUE(SignalProcess(executor_, SIGTERM).ok());
  EXPECT_EQ(ExitCodeOfExecutor(), kExitStopped);
  EXPECT_TRUE(Processes().empty());
}

TEST_F(ExecutorServerTest, NextMasterIsFoundAndChildrenLiveOn) {
  auto first = RunContainer("run");
  const pid_t instance = first->PidOf("instance", 7);
  const std::string nonce = first->report.nonce();
  first.reset();
  auto second = Master();
  second->Command(proto::ContainerPlan::RUN, 2);
  RunUntil([&] { return second->reports > 0; });
  EXPECT_EQ(second->report.nonce(), nonce);
  EXPECT_EQ(second->report.incarnation(), 1u);
  EXPECT_EQ(second->PidOf("instance", 7), instance);
}

TEST_F(ExecutorServerTest, TheTopologysHeartbeatTimeoutHolds) {
  // This master says nothing and shows a sign of life each 500 ms only: it is left and found again.
  settings_ = "topology.heartbeat.interval.ms=50,topology.heartbeat.timeout.ms=150";
  WriteTopology("run");
  auto master = Master();
  StartExecutor(1);
  RunUntil([&] { return master->sessions >= 3; });
}

TEST_F(ExecutorServerTest, WithoutAMasterTheStoreDecides) {
  StartExecutor(1);
  SetDesire(proto::DesiredState::KILLING);
  EXPECT_EQ(ExitCodeOfExecutor(), kExitNotWanted);
}

TEST_F(ExecutorServerTest, MasterContainerRunsItsMasterAtOnceAndAgain) {
  StartExecutor(0);
  const auto master = [&]() -> ProcessIdentity {
    for (const FoundProcess& process : Processes()) {
      if (!process.command_line.empty() &&
          process.command_line[0].ends_with("heron-topology-master")) {
        return process.identity;
      }
    }
    return {};
  };
  RunUntil([&] { return master().pid != 0; });
  const ProcessIdentity first = master();
  ASSERT_TRUE(SignalProcess(first, SIGKILL).ok());
  RunUntil([&] { return master().pid != 0 && !(master() == first); });
  SetDesire(proto::DesiredState::KILLING);
  EXPECT_EQ(ExitCodeOfExecutor(), kExitNotWanted);
  EXPECT_TRUE(Processes().empty());
}

}  // namespace
}  // namespace heron::executor
