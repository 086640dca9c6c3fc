// A whole local cluster with a stand-in for the executor: real supervisor, real processes.
#include "scheduler/local/local_scheduler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "heron/base/process.h"
#include "heron/state/state_store.h"
#include "proto/state.pb.h"
#include "scheduler/local/process_sweep.h"
#include "scheduler/local/supervisor_file.h"

namespace scheduler::local {
namespace {

namespace fs = std::filesystem;
using heron::ProcessIdentity;
using heron::Status;

bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

class LocalSchedulerTest : public testing::Test {
 protected:
  LocalSchedulerTest() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(testing::TempDir()) / name;
    fs::remove_all(root_);
    fs::create_directories(root_ / "engine");
    fs::create_symlink(fs::absolute("scheduler/local/heron-supervisor"),
                       root_ / "engine/heron-supervisor");
    fs::create_symlink(fs::absolute("scheduler/local/local_scheduler_test_executor"),
                       root_ / "engine/heron-executor");
    request_.key = {"ads", "prod", "words"};
    request_.topology_id = "words-" + std::to_string(getpid()) + name;
    request_.state_url = "file:" + (root_ / "state").string();
    request_.engine_folder = (root_ / "engine").string();
    request_.secret = std::string(31, 'S') + '\0';
    request_.packing_plan.add_containers()->set_container(2);
    scheduler_ = std::make_unique<LocalScheduler>(LocalScheduler::Options{root_.string()});
    SetDesire(heron::proto::DesiredState::ACTIVE);
  }
  ~LocalSchedulerTest() override {
    EXPECT_TRUE(scheduler_->Kill(request_.key, request_.topology_id).ok());
  }

  void SetDesire(heron::proto::DesiredState::Desire desire) {
    auto store = heron::state::OpenStateStore(request_.state_url);
    CHECK(store.ok()) << store.status().ToString();
    heron::proto::DesiredState state;
    state.set_topology_id(request_.topology_id);
    state.set_desire(desire);
    const std::string path = heron::state::DesiredPath(request_.key);
    const auto now = (*store)->Get(path);
    const auto written = now.ok() ? (*store)->Set(path, state.SerializeAsString(), now->version)
                                  : (*store)->Create(path, state.SerializeAsString());
    CHECK(written.ok()) << written.status().ToString();
  }
  Status Launch(const std::string& behaviour) {
    request_.program_path = "/" + behaviour;
    return scheduler_->Launch(request_);
  }
  Status Kill() { return scheduler_->Kill(request_.key, request_.topology_id); }
  fs::path Folder() { return scheduler_->LogFolder(request_.key, request_.topology_id); }
  std::vector<std::string> Processes() {
    std::vector<std::string> names;
    const auto processes = scheduler_->Processes(request_.topology_id);
    EXPECT_TRUE(processes.ok());
    for (const ProcessInfo& process : *processes) {
      names.push_back(process.what);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Identities of those who said `who` in container `container`, as far as they are alive.
  std::vector<ProcessIdentity> Said(int container, const std::string& who) {
    std::ifstream in(Folder() / ("container-" + std::to_string(container)) / "pids");
    std::vector<ProcessIdentity> said;
    std::string name;
    for (pid_t pid; in >> name >> pid;) {
      const auto identity = heron::IdentityOf(pid);
      if (name == who && identity.ok() && heron::IsAlive(*identity)) said.push_back(*identity);
    }
    return said;
  }
  // The one that says so, once it has.
  ProcessIdentity WaitFor(int container, const std::string& who) {
    EXPECT_TRUE(Eventually([&] { return Said(container, who).size() == 1; })) << who;
    const auto said = Said(container, who);
    return said.empty() ? ProcessIdentity{} : said[0];
  }
  ProcessIdentity Supervisor() {
    const auto file = ReadSupervisorFile((Folder() / "supervisor.pid").string());
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return file.ok() ? file->supervisor : ProcessIdentity{};
  }

  fs::path root_;
  LaunchRequest request_;
  std::unique_ptr<LocalScheduler> scheduler_;
};

TEST_F(LocalSchedulerTest, LaunchReturnsWithAllExecutorsStarted) {
  const Status launched = Launch("pause");
  ASSERT_TRUE(launched.ok()) << launched.ToString();
  EXPECT_EQ(Processes(), (std::vector<std::string>{"executor 0", "executor 2", "supervisor"}));
  struct stat info;
  ASSERT_EQ(stat((Folder() / "secret").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_size, 32);
  for (const auto& process : heron::FindProcesses("HERON_TOPOLOGY_ID=" + request_.topology_id)) {
    for (const std::string& argument : process.command_line) {
      EXPECT_EQ(argument.find("SSSS"), std::string::npos) << "the secret is on a command line";
    }
  }
}

TEST_F(LocalSchedulerTest, SupervisorIsADaemon) {
  ASSERT_TRUE(Launch("pause").ok());
  const auto stat = heron::ReadProcessStat(Supervisor().pid);
  ASSERT_TRUE(stat.ok());
  EXPECT_NE(stat->session, getsid(0));
  EXPECT_NE(stat->session, stat->pid) << "a session leader could get a terminal";
  EXPECT_NE(stat->parent, getpid());
  ASSERT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the launcher keeps no child";
  ASSERT_TRUE(heron::SignalProcess(Supervisor(), SIGHUP).ok());
  // It still works: an executor that dies comes back.
  const ProcessIdentity first = WaitFor(2, "executor");
  ASSERT_TRUE(heron::SignalProcess(first, SIGKILL).ok());
  EXPECT_TRUE(Eventually([&] {
    const auto now = Said(2, "executor");
    return now.size() == 1 && now[0] != first;
  }));
}

TEST_F(LocalSchedulerTest, LaunchTwiceIsLaunchOnce) {
  ASSERT_TRUE(Launch("pause").ok());
  const ProcessIdentity supervisor = Supervisor();
  ASSERT_TRUE(Launch("pause").ok());
  EXPECT_EQ(Supervisor(), supervisor);
  EXPECT_EQ(Processes().size(), 3u);
}

TEST_F(LocalSchedulerTest, KillLeavesNothingAndMayBeRepeated) {
  ASSERT_TRUE(Launch("daemon").ok());
  WaitFor(0, "daemon");
  WaitFor(2, "daemon");
  EXPECT_EQ(Processes().size(), 5u);
  const Status killed = Kill();
  EXPECT_TRUE(killed.ok()) << killed.ToString();
  EXPECT_TRUE(Said(0, "daemon").empty());
  EXPECT_TRUE(Said(2, "daemon").empty());
  EXPECT_TRUE(Processes().empty());
  EXPECT_TRUE(Kill().ok());
}

TEST_F(LocalSchedulerTest, KillWorksWithoutTheSupervisor) {
  ASSERT_TRUE(Launch("bare-daemon").ok());
  WaitFor(0, "bare");
  WaitFor(2, "bare");
  ASSERT_TRUE(heron::SignalProcess(Supervisor(), SIGKILL).ok());
  ASSERT_TRUE(Eventually([&] { return !heron::IsAlive(Supervisor()); }));
  EXPECT_EQ(Said(2, "executor").size(), 1u) << "the topology goes on";
  const Status killed = Kill();
  EXPECT_TRUE(killed.ok()) << killed.ToString();
  EXPECT_TRUE(Processes().empty());
  for (const char* who : {"executor", "daemon", "bare"}) {
    EXPECT_TRUE(Said(0, who).empty()) << who;
    EXPECT_TRUE(Said(2, who).empty()) << who;
  }
}

TEST_F(LocalSchedulerTest, StoppedAndStubbornProcessesAreKilled) {
  ASSERT_TRUE(Launch("stubborn").ok());
  ASSERT_TRUE(heron::SignalProcess(WaitFor(2, "executor"), SIGSTOP).ok());
  const Status killed = Kill();
  EXPECT_TRUE(killed.ok()) << killed.ToString();
  EXPECT_TRUE(Processes().empty());
}

TEST_F(LocalSchedulerTest, DeadExecutorIsRestartedAndItsDaemonsAreGone) {
  ASSERT_TRUE(Launch("daemon").ok());
  const ProcessIdentity executor = WaitFor(2, "executor");
  const ProcessIdentity daemon = WaitFor(2, "daemon");
  const ProcessIdentity other = WaitFor(0, "executor");
  ASSERT_TRUE(heron::SignalProcess(executor, SIGKILL).ok());
  ASSERT_TRUE(Eventually([&] {
    const auto now = Said(2, "executor");
    return now.size() == 1 && now[0] != executor;
  }));
  EXPECT_FALSE(heron::IsAlive(daemon)) << "the next life began beside the last one's rest";
  EXPECT_TRUE(heron::IsAlive(other));
}

TEST_F(LocalSchedulerTest, NoRestartOfAKilledTopology) {
  ASSERT_TRUE(Launch("pause").ok());
  const ProcessIdentity zero = WaitFor(0, "executor");
  const ProcessIdentity two = WaitFor(2, "executor");
  SetDesire(heron::proto::DesiredState::KILLING);
  ASSERT_TRUE(heron::SignalProcess(two, SIGKILL).ok());
  ASSERT_TRUE(heron::SignalProcess(zero, SIGKILL).ok());
  EXPECT_TRUE(Eventually([&] { return Processes().empty(); })) << "the supervisor ends, too";
}

TEST_F(LocalSchedulerTest, SupervisorEndsWithItsExecutors) {
  ASSERT_TRUE(Launch("exit-0").ok());
  EXPECT_TRUE(Eventually([&] { return Processes().empty(); }));
}

TEST_F(LocalSchedulerTest, MissingExecutorIsToldAndNothingIsLeft) {
  fs::remove(root_ / "engine/heron-executor");
  const Status launched = Launch("pause");
  ASSERT_FALSE(launched.ok());
  EXPECT_NE(launched.message().find((root_ / "engine/heron-executor").string()), std::string::npos)
      << launched.ToString();
  EXPECT_FALSE(fs::exists(root_ / "topologies/ads")) << "folders are left";
  EXPECT_TRUE(Processes().empty());
}

TEST_F(LocalSchedulerTest, MissingSupervisorIsTold) {
  fs::remove(root_ / "engine/heron-supervisor");
  const Status launched = Launch("pause");
  ASSERT_FALSE(launched.ok());
  EXPECT_NE(launched.message().find("heron-supervisor"), std::string::npos);
  EXPECT_FALSE(fs::exists(root_ / "topologies/ads"));
}

TEST_F(LocalSchedulerTest, NamesCannotLeadOutOfTheFolder) {
  request_.key.role = "..";
  EXPECT_EQ(Launch("pause").code(), heron::StatusCode::kInvalidArgument);
  request_.key.role = "a/b";
  EXPECT_EQ(scheduler_->CleanUp(request_.key, request_.topology_id, false).code(),
            heron::StatusCode::kInvalidArgument);
  request_.key.role = "ads";
}

TEST_F(LocalSchedulerTest, StrangerWithTheSupervisorsPidIsNotHarmed) {
  heron::SpawnOptions spawn;
  spawn.argv = {fs::absolute("scheduler/local/local_scheduler_test_executor").string(),
                "pause-only"};
  spawn.working_folder = root_.string();
  const auto stranger = heron::SpawnProcess(spawn);
  ASSERT_TRUE(stranger.ok());
  fs::create_directories(Folder());
  for (SupervisorFile file :
       {SupervisorFile{{stranger->pid, stranger->start_ticks - 1, stranger->boot_id},
                       request_.topology_id},
        SupervisorFile{{stranger->pid, stranger->start_ticks, "another boot"},
                       request_.topology_id},
        SupervisorFile{*stranger, "another topology"}}) {
    ASSERT_TRUE(WriteSupervisorFile((Folder() / "supervisor.pid").string(), file).ok());
    EXPECT_TRUE(Kill().ok());
  }
  EXPECT_TRUE(heron::IsAlive(*stranger));
  ASSERT_TRUE(heron::SignalProcess(*stranger, SIGKILL).ok());
  waitpid(stranger->pid, nullptr, 0);
}

TEST_F(LocalSchedulerTest, CleanUpKeepsLogsWhenAsked) {
  ASSERT_TRUE(Launch("pause").ok());
  ASSERT_TRUE(Kill().ok());
  ASSERT_TRUE(scheduler_->CleanUp(request_.key, request_.topology_id, true).ok());
  EXPECT_FALSE(fs::exists(Folder() / "secret"));
  EXPECT_FALSE(fs::exists(Folder() / "supervisor.pid"));
  EXPECT_TRUE(fs::exists(Folder() / "supervisor.log"));
  EXPECT_TRUE(fs::exists(Folder() / "container-2/executor.log"));
  ASSERT_TRUE(scheduler_->CleanUp(request_.key, request_.topology_id, false).ok());
  EXPECT_FALSE(fs::exists(root_ / "topologies/ads"));
  EXPECT_TRUE(scheduler_->CleanUp(request_.key, request_.topology_id, false).ok());
  EXPECT_TRUE(scheduler_->CleanUp(request_.key, request_.topology_id, true).ok());
}

std::string What(const std::vector<std::string>& command_line) {
  return DescribeProcess(command_line).what;
}

TEST(DescribeProcessTest, TellsWhatItIs) {
  EXPECT_EQ(What({"/e/heron-supervisor", "--topology=t"}), "supervisor");
  EXPECT_EQ(What({"/e/heron-executor", "--container=2"}), "executor 2");
  EXPECT_EQ(What({"/e/heron-topology-master"}), "topology master");
  EXPECT_EQ(What({"/e/heron-stream-manager", "--container=3"}), "stream manager 3");
  EXPECT_EQ(What({"/p/words", "--heron-instance", "--heron-component=split", "--heron-task=7",
                  "--heron-index=3"}),
            "instance split[3] (task 7)");
  EXPECT_EQ(What({"/bin/sleep", "5"}), "sleep, started by user code");
  EXPECT_EQ(What({}), "unknown");
}

}  // namespace
}  // namespace scheduler::local
