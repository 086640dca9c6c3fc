#include "tools/cli/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heron/base/exit_codes.h"
#include "tools/cli/fake_cluster.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;
using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::TaskStatus;
using nlohmann::json;

// The topology of FakeCluster: lines[0] = task 1 and count[0] = task 3 in container 1, lines[1] = 2
// in container 2.
class ExplainTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.cli.json = true;
    cluster_.clock.Advance(std::chrono::hours(2));
    cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::STATE_UNSPECIFIED);
    Process("supervisor");
    for (const char* what : {"executor 0", "executor 1", "executor 2", "topology master",
                             "stream manager 1", "stream manager 2", "instance lines[0] (task 1)",
                             "instance lines[1] (task 2)", "instance count[0] (task 3)"}) {
      Process(what);
    }
    for (int container : {0, 1, 2}) {
      auto* status = state_.add_containers();
      status->set_container(container);
      status->set_executor_connected(true);
      status->set_stream_manager_connected(container > 0);
    }
    for (int task : {1, 2, 3}) {
      auto* status = state_.add_tasks();
      status->set_task(task);
      status->set_phase(TaskStatus::RUNNING);
      status->set_progress(0.5);
      auto* facts = state_.add_facts();
      facts->set_task(task);
      facts->set_phase_since_unix_ms(Now() - 60'000);
      facts->set_counted_since_unix_ms(Now());
    }
    state_.set_state(ExecutionState::RUNNING);
    state_.set_since_unix_ms(Now() - 60'000);
    state_.set_updated_unix_ms(Now());
    BeatAsMaster();
    cluster_.on_sleep = [this](int) { BeatAsMaster(); };
  }

  int64_t Now() { return cluster_.clock.UnixMillis(); }
  TaskStatus* Task(int task) { return state_.mutable_tasks(task - 1); }
  heron::proto::TaskFacts* Facts(int task) { return state_.mutable_facts(task - 1); }
  std::vector<scheduler::ProcessInfo>& Processes() {
    return cluster_.scheduler.processes[cluster_.IdOf("t")];
  }
  void Process(const std::string& what, char state = 'S') {
    for (auto& process : Processes()) {
      if (process.what == what) {
        process.state = state;
        return;
      }
    }
    Processes().push_back({1000 + static_cast<int>(Processes().size()), what, state});
  }
  void Kill(const std::string& what) {
    std::erase_if(Processes(), [&](const auto& process) { return process.what == what; });
  }
  void BeatAsMaster() {
    heron::proto::Lease lease;
    lease.set_holder("h");
    lease.set_epoch(1);
    lease.set_counter(++beats_);
    heron::proto::MasterLocation location;
    location.set_topology_id(cluster_.IdOf("t"));
    location.set_pid(1005);
    lease.set_payload(location.SerializeAsString());
    const std::string path = heron::state::MasterPath(cluster_.Key("t"));
    auto now = cluster_.store->Get(path);
    if (now.ok()) {
      ASSERT_TRUE(cluster_.store->Set(path, lease.SerializeAsString(), now->version).ok());
    } else {
      ASSERT_TRUE(cluster_.store->Create(path, lease.SerializeAsString()).ok());
    }
  }
  void Log(const std::string& file, const std::string& text) {
    const std::string path = cluster_.scheduler.log_root + "/t-1/" + file;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::app) << text;
  }
  void Die(int task, const std::string& reason, int64_t ago_ms, uint32_t in_a_row) {
    auto* failure = state_.add_failures();
    failure->set_process("instance");
    failure->set_container(task == 2 ? 2 : 1);
    failure->set_component(task == 3 ? "count" : "lines");
    failure->set_task(task);
    failure->set_reason(reason);
    failure->set_at_unix_ms(Now() - ago_ms);
    *Facts(task)->mutable_last_failure() = *failure;
    Facts(task)->set_failures(Facts(task)->failures() + 1);
    Facts(task)->set_failures_in_a_row(in_a_row);
  }

  // The codes, the one to mend first in front.
  std::vector<std::string> Codes() {
    cluster_.SetExecution("t", state_);
    return CodesOf("t");
  }
  std::vector<std::string> CodesOf(const std::string& name) {
    cluster_.out.str("");
    status_ = ExplainCommand(cluster_.cli, cluster_.Key(name));
    json_ = json::parse(cluster_.out.str());
    std::vector<std::string> codes;
    for (const auto& cause : json_["causes"]) codes.push_back(cause["cause"]);
    EXPECT_EQ(json_["cause"], codes.at(0));
    return codes;
  }
  using Words = std::vector<std::string>;
  // Whether text, evidence or commands of the first cause have it.
  bool Says(const std::string& text) {
    return json_["causes"][0].dump().find(text) != std::string::npos;
  }

  FakeCluster cluster_;
  ExecutionState state_;
  uint64_t beats_ = 0;
  Status status_;
  json json_;
};

TEST_F(ExplainTest, Healthy) {
  EXPECT_EQ(Codes(), Words{"healthy"});
  EXPECT_TRUE(status_.ok());
  EXPECT_TRUE(Says("lines has read 50 % of its input"));
}

TEST_F(ExplainTest, NoSuchTopologyIsAnErrorThatNamesTheNearest) {
  cluster_.AddTopology("counter", DesiredState::ACTIVE, ExecutionState::RUNNING);
  EXPECT_EQ(CodesOf("conter"), Words{"no_such_topology"});
  EXPECT_EQ(status_.code(), StatusCode::kNotFound);
  EXPECT_TRUE(Says("did you mean 'counter'"));
  EXPECT_EQ(json_["error"]["code"], "not found");
  cluster_.killed_names->Add(cluster_.Key("u"));
  EXPECT_EQ(CodesOf("u"), Words{"no_such_topology"});
  EXPECT_TRUE(Says("it was killed"));
}

TEST_F(ExplainTest, FailedSubmits) {
  for (const char* code : {"describe_failed", "packing_impossible", "definition_refused"}) {
    cluster_.failed_submits->Put(cluster_.Key("u"),
                                 {code, "said this\nand that", "./p", Now() - 3000});
    EXPECT_EQ(CodesOf("u"), Words{code});
    EXPECT_TRUE(status_.ok());
    EXPECT_TRUE(Says("3 s ago")) << json_;
    EXPECT_TRUE(Says("and that"));
    EXPECT_TRUE(Says("heron submit ./p u"));
  }
  // Of a topology that is there: only a later try.
  cluster_.failed_submits->Put(cluster_.Key("t"), {"describe_failed", "x", "./p", Now()});
  EXPECT_EQ(Codes(), (Words{"healthy", "describe_failed"}));
}

TEST_F(ExplainTest, StateThatCannotBeRead) {
  ASSERT_TRUE(cluster_.store->Create(heron::state::DesiredPath(cluster_.Key("bad")), "\xFF").ok());
  EXPECT_EQ(CodesOf("bad"), Words{"state_unreachable"});
  EXPECT_EQ(status_.code(), StatusCode::kDataLoss);
  cluster_.out.str("");
  EXPECT_FALSE(
      ExplainUnreachable(cluster_.cli, cluster_.Key("t"), heron::Unavailable("/x: Not a directory"))
          .ok());
  json_ = json::parse(cluster_.out.str());
  EXPECT_EQ(json_["cause"], "state_unreachable");
  EXPECT_TRUE(Says("Not a directory"));
}

TEST_F(ExplainTest, SubmitAndKillUnderWayAndBrokenOff) {
  cluster_.SetDesired("t", DesiredState::SUBMITTING);
  EXPECT_EQ(Codes(), Words{"submitting"});
  cluster_.SetDesired("t", DesiredState::KILLING);
  EXPECT_EQ(Codes(), Words{"killing"});
  const std::string self = ThisProcess("ada");
  const std::string dead = self.substr(0, self.rfind(':')) + ":999999999";
  cluster_.SetDesired("t", DesiredState::SUBMITTING, dead);
  EXPECT_EQ(Codes(), Words{"submit_broken_off"});
  cluster_.SetDesired("t", DesiredState::KILLING, dead);
  EXPECT_EQ(Codes(), Words{"kill_broken_off"});
}

TEST_F(ExplainTest, Starting) {
  state_.set_state(ExecutionState::STARTING);
  state_.set_since_unix_ms(Now() - 1000);
  state_.set_waiting_for("0 of 2 containers");
  for (auto& container : *state_.mutable_containers()) container.set_executor_connected(false);
  for (int task : {1, 2, 3}) Task(task)->set_phase(TaskStatus::PHASE_UNSPECIFIED);
  EXPECT_EQ(Codes(), Words{"starting"});
  EXPECT_TRUE(Says("0 of 2 containers"));
}

TEST_F(ExplainTest, ContainerMissing) {
  state_.mutable_containers(2)->set_executor_connected(false);
  state_.mutable_containers(2)->set_stream_manager_connected(false);
  Task(2)->set_phase(TaskStatus::DOWN);
  Kill("supervisor");
  Kill("executor 2");
  EXPECT_EQ(Codes(), (Words{"containers_missing", "supervisor_missing"}));
  EXPECT_EQ(json_["causes"][0]["container"], 2);
  EXPECT_TRUE(Says("no process of its executor is alive"));
  EXPECT_TRUE(Says("heron restart t"));
  Process("supervisor", 'T');
  EXPECT_EQ(Codes(), (Words{"containers_missing", "supervisor_missing"}));
  EXPECT_TRUE(Says("kill -CONT")) << json_;
  Kill("supervisor");
  // The same when nobody keeps the record true.
  state_.mutable_containers(2)->set_executor_connected(true);
  cluster_.on_sleep = nullptr;
  Kill("topology master");
  EXPECT_EQ(Codes(),
            (Words{"topology_master_missing", "containers_missing", "supervisor_missing"}));
}

TEST_F(ExplainTest, MasterStoppedOrDead) {
  cluster_.on_sleep = nullptr;
  Process("topology master", 'T');
  Log("container-0/tm.log", "--- started by heron now\nlast words of the master\n");
  EXPECT_EQ(Codes(), Words{"topology_master_missing"});
  EXPECT_TRUE(Says("kill -CONT 1004")) << json_;
  EXPECT_TRUE(Says("last words of the master"));
  Kill("topology master");
  EXPECT_EQ(Codes(), Words{"topology_master_missing"});
  EXPECT_TRUE(Says("starts it again"));
  cluster_.on_sleep = [this](int) { BeatAsMaster(); };
  for (int i = 0; i < 3; ++i) {
    auto* failure = state_.add_failures();
    failure->set_process("topology-master");
    failure->set_reason("killed by signal 6 (Aborted)");
    failure->set_at_unix_ms(Now() - 1000 * i);
  }
  EXPECT_EQ(Codes(), Words{"crash_loop"});
  EXPECT_TRUE(Says("topology master dies again and again"));
}

TEST_F(ExplainTest, StreamManagerNotRegistered) {
  state_.mutable_containers(1)->set_stream_manager_connected(false);
  Task(1)->set_phase(TaskStatus::DOWN);
  Task(3)->set_phase(TaskStatus::DOWN);
  Process("stream manager 1", 'T');
  EXPECT_EQ(Codes(), Words{"stream_managers_missing"});
  EXPECT_TRUE(Says("is stopped by a signal")) << json_;
  for (int i = 0; i < 3; ++i) {
    auto* failure = state_.add_failures();
    failure->set_process("stream-manager");
    failure->set_container(1);
    failure->set_reason("exited with code 1: no space");
    failure->set_at_unix_ms(Now() - 3000);
  }
  EXPECT_EQ(Codes(), Words{"crash_loop"});
  EXPECT_TRUE(Says("no space"));
}

TEST_F(ExplainTest, CrashLoops) {
  Log("container-1/count-3.log",
      "--- started by heron a\nparsing\ncannot parse 17\n\n"
      "--- started by heron b\n");
  Die(3, "std::runtime_error: cannot parse 17", 2000, 4);
  Task(3)->set_phase(TaskStatus::DOWN);
  EXPECT_EQ(Codes(), Words{"crash_loop"});
  EXPECT_EQ(json_["causes"][0]["component"], "count");
  EXPECT_EQ(json_["causes"][0]["task"], 3);
  EXPECT_EQ(json_["causes"][0]["evidence"][2], "log of count[0]: cannot parse 17");
  // With progress in each life: by its deaths of late.
  Facts(3)->set_failures_in_a_row(0);
  Task(3)->set_phase(TaskStatus::RUNNING);
  EXPECT_EQ(Codes(), Words{"healthy"}) << "once is no loop";
  Die(3, "boom", 1000, 0);
  Die(3, "boom", 500, 0);
  EXPECT_EQ(Codes(), Words{"crash_loop"});
  // Long ago.
  for (auto& failure : *state_.mutable_failures()) failure.set_at_unix_ms(Now() - 3'600'000);
  Facts(3)->mutable_last_failure()->set_at_unix_ms(Now() - 3'600'000);
  Facts(3)->set_failures_in_a_row(2);
  EXPECT_EQ(Codes(), Words{"healthy"});
}

TEST_F(ExplainTest, TasksThatAreNotThere) {
  state_.set_state(ExecutionState::STARTING);
  Task(3)->set_phase(TaskStatus::PHASE_UNSPECIFIED);
  Process("instance count[0] (task 3)", 'T');
  EXPECT_EQ(Codes(), Words{"waiting_for_task"});
  EXPECT_TRUE(Says("has not registered for 60 s")) << json_;
  EXPECT_TRUE(Says("kill -CONT"));
  Task(3)->set_phase(TaskStatus::REGISTERED);
  EXPECT_EQ(Codes(), Words{"stuck_in_open"});
  EXPECT_TRUE(Says("count[0] (task 3) has not returned from Prepare for 60 s"));
  Facts(3)->set_phase_since_unix_ms(Now() - 1000);
  EXPECT_EQ(Codes(), Words{"starting"});
}

TEST_F(ExplainTest, SlowBoltThatHoldsBack) {
  Task(1)->add_held_by(3);
  Task(2)->add_held_by(3);
  Task(3)->set_queued_bytes(9 << 20);
  Task(3)->set_executed(600);
  Task(3)->set_open_inputs(2);
  EXPECT_EQ(Codes(), Words{"holds_back"});
  EXPECT_TRUE(Says("count[0] (task 3) is slow and holds back lines[0] and lines[1]")) << json_;
  EXPECT_TRUE(Says("(10.0/s)"));
  EXPECT_TRUE(Says("9.0 MiB in its stream manager"));
  EXPECT_TRUE(Says("--parallelism count=2"));
  // Each task of a component has the same cause: told once.
  Task(1)->clear_held_by();
  Task(1)->set_queued_bytes(9 << 20);
  Task(2)->set_queued_bytes(9 << 20);
  Task(3)->add_held_by(1);
  Task(3)->add_held_by(2);
  Task(2)->clear_held_by();
  EXPECT_EQ(Codes(), Words{"holds_back"});
  EXPECT_EQ(json_["causes"][0]["more_tasks"], std::vector<int>{2});
  EXPECT_TRUE(Says("the same of 1 more task of lines")) << json_;
  Task(3)->clear_held_by();
  Task(1)->set_queued_bytes(0);
  Task(2)->set_queued_bytes(0);
  // A holder that is held itself is no cause.
  Task(1)->clear_held_by();
  Task(2)->clear_held_by();
  Task(2)->add_held_by(1);
  Task(1)->add_held_by(3);
  EXPECT_EQ(Codes(), Words{"holds_back"});
  EXPECT_EQ(json_["causes"][0]["task"], 3);
  // In a circle the fullest one.
  Task(3)->add_held_by(2);
  EXPECT_EQ(Codes(), Words{"holds_back"});
  EXPECT_EQ(json_["causes"][0]["task"], 3);
}

TEST_F(ExplainTest, SlowOrStuckBoltThatHoldsTheEnd) {
  Task(1)->set_phase(TaskStatus::FINISHED);
  Task(2)->set_phase(TaskStatus::FINISHED);
  Task(3)->set_executed(600);
  Task(3)->set_waiting_tuples(3000);
  EXPECT_EQ(Codes(), Words{"holds_back"});
  EXPECT_TRUE(Says("holds the end"));
  EXPECT_TRUE(Says("about 5 min")) << json_;
  Facts(3)->set_counted_since_unix_ms(Now() - 20'000);
  EXPECT_EQ(Codes(), Words{"stuck_in_execute"});
  EXPECT_TRUE(Says("has not returned from Execute for 20 s, and holds the end"));
  Task(3)->set_waiting_tuples(0);
  Task(3)->set_phase(TaskStatus::FINISHING);
  EXPECT_EQ(Codes(), Words{"stuck_in_finish"});
}

TEST_F(ExplainTest, BoltThatHoldsTuplesForWhichASpoutWaits) {
  for (int task : {1, 2, 3}) Facts(task)->set_counted_since_unix_ms(Now() - 7'000);
  Task(1)->set_pending(5);
  Task(3)->set_held(4);
  EXPECT_EQ(Codes(), Words{"holds_acks"});
  EXPECT_EQ(json_["causes"][0]["task"], 3);
  EXPECT_TRUE(Says("holds 4 tuples that it has neither acknowledged nor failed")) << json_;
  EXPECT_TRUE(Says("waits for 5 tuples")) << json_;
}

TEST_F(ExplainTest, InactiveDoesNotFinish) {
  cluster_.SetDesired("t", DesiredState::INACTIVE, "bob@elsewhere:9");
  state_.set_state(ExecutionState::INACTIVE);
  Facts(1)->set_counted_since_unix_ms(Now() - 60'000);
  EXPECT_EQ(Codes(), Words{"inactive"});
  EXPECT_TRUE(Says("does not finish until it is activated"));
  EXPECT_TRUE(Says("heron activate t"));
}

TEST_F(ExplainTest, IdleSpoutAndDrops) {
  Facts(1)->set_counted_since_unix_ms(Now() - 30'000);
  (*Task(3)->mutable_drop_reasons())["refused"] = 7;
  EXPECT_EQ(Codes(), (Words{"spout_idle", "tuples_dropped"}));
  EXPECT_TRUE(Says("lines[0] (task 1) has emitted nothing for 30 s")) << json_;
  EXPECT_NE(json_["causes"][1].dump().find("emitted with wrong values"), std::string::npos);
}

TEST_F(ExplainTest, FailedOfDifferentCauses) {
  state_.set_state(ExecutionState::FAILED);
  state_.set_reason("component \"count\" task 3: no table");
  EXPECT_EQ(Codes(), Words{"failed"});
  Die(3, "no table", 1000, 3);
  EXPECT_EQ(Codes(), Words{"crash_loop"});
  state_.mutable_failures(0)->set_unrecoverable(true);
  EXPECT_EQ(Codes(), Words{"unrecoverable"});
  EXPECT_TRUE(Says("no table"));
  state_.mutable_failures(0)->set_exit_code(heron::kExitDefinitionDiffers);
  EXPECT_EQ(Codes(), Words{"definition_differs"});
}

TEST_F(ExplainTest, Finished) {
  state_.set_state(ExecutionState::FINISHED);
  EXPECT_EQ(Codes(), Words{"finished"});
  state_.add_incomplete("task 3 (count[0]), life 1.0, lost batches: 4 on the way to it");
  EXPECT_EQ(Codes(), Words{"finished_incomplete"});
  EXPECT_TRUE(Says("4 on the way to it"));
}

TEST_F(ExplainTest, LostWhenNothingIsAlive) {
  Processes().clear();
  EXPECT_EQ(Codes(), Words{"lost"});
  EXPECT_TRUE(Says("heron restart t"));
  EXPECT_TRUE(Says("heron kill t"));
}

TEST_F(ExplainTest, TextHasVerdictThenEvidenceThenWhatToDo) {
  Task(3)->set_phase(TaskStatus::DOWN);
  Die(3, "boom\nat line 3", 2000, 4);
  Log("container-1/count-3.log", "last words\n");
  cluster_.cli.json = false;
  cluster_.SetExecution("t", state_);
  ASSERT_TRUE(ExplainCommand(cluster_.cli, cluster_.Key("t")).ok());
  EXPECT_EQ(cluster_.out.str(),
            "t RUNNING: count[0] (task 3) dies again and again: boom\n"
            "    it died 1 time, last 2 s ago; 4 times in a row without progress\n"
            "    log of count[0]: last words\n"
            "  do: see its log: heron logs t 'count[0]' --previous\n"
            "  do: mend the program, then replace the topology: heron kill t && heron submit "
            "PROGRAM t\n");
}

TEST_F(ExplainTest, VerdictHasTenLinesAtMost) {
  std::vector<Cause> causes(25, Cause{"crash_loop", "x dies"});
  ExplainFacts facts;
  facts.key = cluster_.Key("t");
  const std::string text = ExplanationText(facts, causes);
  const std::string verdict = text.substr(0, text.find("\n\n") + 1);
  EXPECT_EQ(std::count(verdict.begin(), verdict.end(), '\n'), 10) << text;
  EXPECT_NE(verdict.find("and 16 more causes"), std::string::npos) << text;
}

}  // namespace
}  // namespace tools::cli
