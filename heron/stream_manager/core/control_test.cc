// What the core says to whom: reports, plans, states, addresses. The core is container 2 of three.
#include <gtest/gtest.h>

#include <memory>

#include "heron/stream_manager/core/epochs.h"
#include "heron/stream_manager/core/recorded_world.h"
#include "heron/stream_manager/core/stream_manager_core.h"

namespace heron::stream_manager {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TaskPlaces Places() { return {{"s", 2}, {"b", 2}, {"b", 1}, {"b", 3}}; }

class ControlTest : public testing::Test {
 protected:
  ControlTest()
      : core_(CoreIdentity{kTestTopologyId, 2, {3, 1}, "127.0.0.1", 4711}, CoreSettings{},
              [this](const proto::SubmittedTopology&) {
                ++settings_reads_;
                return CoreSettings{};
              },
              &world_, now_) {}

  void Master(const proto::MasterUpdate& update) {
    core_.OnMasterFrame(proto::MASTER_UPDATE, net::EncodeFrame(proto::MASTER_UPDATE, update),
                        now_);
  }
  static proto::MasterUpdate Repeat(uint64_t mastership = 1) {
    proto::MasterUpdate update;
    update.set_mastership_epoch(mastership);
    update.set_plan_version(1);
    return update;
  }
  static void AddAddress(proto::MasterUpdate& update, ContainerId container, Epoch epoch,
                         uint32_t port) {
    auto* address = update.add_addresses();
    address->set_container(container);
    FillEpoch(epoch, address->mutable_epoch());
    address->set_host("127.0.0.1");
    address->set_port(port);
  }
  void Report(TaskId task, Epoch epoch, proto::TaskStatus::Phase phase, uint64_t executed = 0) {
    core_.OnInstanceFrame(task, proto::CONTROL, proto::TASK_REPORT,
                          ReportFrame(task, epoch, phase, executed), now_);
  }
  void Pass(Duration time) {
    const MonotonicTime end = now_ + time;
    while (core_.NextWake() <= end) {
      now_ = std::max(now_, core_.NextWake());
      core_.OnTimer(now_);
    }
    now_ = end;
  }
  std::vector<proto::InstancePlan> PlansTo(TaskId task) const {
    std::vector<proto::InstancePlan> plans;
    for (const auto& frame : world_.FramesTo(task, proto::INSTANCE_PLAN)) {
      plans.push_back(Parse<proto::InstancePlan>(frame));
    }
    return plans;
  }

  MonotonicTime now_{std::chrono::hours(1)};
  int settings_reads_ = 0;
  RecordedWorld world_;
  StreamManagerCore core_;
};

TEST_F(ControlTest, TheFirstMessageToTheMasterSaysWhereThisStreamManagerIs) {
  core_.OnMasterUp(now_);
  ASSERT_EQ(world_.to_master.size(), 1u);
  const auto report = world_.LastReport();
  EXPECT_EQ(report.container(), 2);
  EXPECT_EQ(report.epoch().incarnation(), 3u);
  EXPECT_EQ(report.epoch().restart(), 1u);
  EXPECT_EQ(report.host(), "127.0.0.1");
  EXPECT_EQ(report.port(), 4711u);
  EXPECT_EQ(report.plan_version(), 0u);
}

TEST_F(ControlTest, ReportsComeOnChangeAtMostEvery50MsAndEachInterval) {
  Master(MakeUpdate(Places()));
  core_.OnInstanceUp(1, {3, 0}, now_);
  Pass(milliseconds(60));
  core_.OnMasterUp(now_);
  Pass(milliseconds(60));
  const size_t before = world_.to_master.size();
  Report(1, {3, 0}, proto::TaskStatus::REGISTERED);
  EXPECT_EQ(world_.to_master.size(), before + 1) << "a change is said at once";
  Report(1, {3, 0}, proto::TaskStatus::RUNNING);
  EXPECT_EQ(world_.to_master.size(), before + 1);
  Pass(milliseconds(50));
  ASSERT_EQ(world_.to_master.size(), before + 2);
  EXPECT_EQ(world_.LastReport().tasks(0).phase(), proto::TaskStatus::RUNNING);
  Report(1, {3, 0}, proto::TaskStatus::RUNNING, 7);  // counters wait for the interval
  EXPECT_EQ(world_.to_master.size(), before + 2);
  Pass(milliseconds(500));
  EXPECT_EQ(world_.LastReport().tasks(0).executed(), 7u);
}

TEST_F(ControlTest, ATaskWithoutSessionIsReportedDownWithItsLastCounters) {
  Master(MakeUpdate(Places()));
  core_.OnMasterUp(now_);
  core_.OnInstanceUp(1, {3, 0}, now_);
  Report(1, {3, 0}, proto::TaskStatus::RUNNING, 9);
  core_.OnInstanceDown(1, now_);
  Pass(milliseconds(60));
  ASSERT_EQ(world_.LastReport().tasks_size(), 1) << "only those that ever registered";
  EXPECT_EQ(world_.LastReport().tasks(0).phase(), proto::TaskStatus::DOWN);
  EXPECT_EQ(world_.LastReport().tasks(0).executed(), 9u);
}

TEST_F(ControlTest, AReportOfAnotherTaskOrEpochIsNotTaken) {
  Master(MakeUpdate(Places()));
  core_.OnMasterUp(now_);
  core_.OnInstanceUp(1, {3, 1}, now_);
  core_.OnInstanceFrame(1, proto::CONTROL, proto::TASK_REPORT,
                        ReportFrame(2, {3, 1}, proto::TaskStatus::FINISHED), now_);
  Report(1, {3, 0}, proto::TaskStatus::FINISHED);
  Pass(seconds(1));
  EXPECT_EQ(world_.LastReport().tasks_size(), 0);
  EXPECT_EQ(core_.counters().forged_frames, 2u);
}

TEST_F(ControlTest, AnInstanceGetsThePlanOnRegistrationAndWhenSomethingOfItsChanges) {
  Master(MakeUpdate(Places()));
  EXPECT_EQ(settings_reads_, 1);
  core_.OnInstanceUp(1, {3, 0}, now_);
  ASSERT_EQ(PlansTo(1).size(), 1u);
  EXPECT_EQ(PlansTo(1)[0].topology().topology_id(), kTestTopologyId);
  EXPECT_EQ(PlansTo(1)[0].plan().version(), 1u);
  EXPECT_FALSE(PlansTo(1)[0].active());

  Master(Repeat());
  EXPECT_EQ(PlansTo(1).size(), 1u) << "nothing changed";

  proto::MasterUpdate active = Repeat();
  active.set_active(true);
  Master(active);
  ASSERT_EQ(PlansTo(1).size(), 2u);
  EXPECT_TRUE(PlansTo(1)[1].active());
  EXPECT_FALSE(PlansTo(1)[1].has_topology());

  proto::TaskGrant* grant = active.add_grants();
  grant->set_task(1);
  grant->set_has_finish_grant(true);
  FillEpoch({3, 0}, grant->mutable_finish_granted());
  Master(active);
  ASSERT_EQ(PlansTo(1).size(), 3u);
  EXPECT_TRUE(PlansTo(1)[2].grant().has_finish_grant());
  EXPECT_TRUE(PlansTo(1)[2].active());

  core_.OnInstanceUp(1, {3, 1}, now_);  // a new session starts from the whole state
  ASSERT_EQ(PlansTo(1).size(), 4u);
  EXPECT_TRUE(PlansTo(1)[3].has_topology());
  EXPECT_TRUE(PlansTo(1)[3].grant().has_finish_grant());
}

TEST_F(ControlTest, LowerMastershipEpochsAndPlanVersionsAreIgnored) {
  Master(MakeUpdate(Places(), 5, 7));
  proto::MasterUpdate old = Repeat(6);
  old.set_active(true);
  Master(old);
  EXPECT_FALSE(core_.master().active());
  EXPECT_EQ(core_.counters().stale_master_updates, 1u);
  Master(MakeUpdate(Places(), 4, 8));
  EXPECT_EQ(core_.master().plan_version(), 5u);
  EXPECT_EQ(core_.master().mastership_epoch(), 8u);
  EXPECT_EQ(core_.counters().older_plans, 1u);
  Master(MakeUpdate(Places(), 6, 8));
  EXPECT_EQ(core_.master().plan_version(), 6u);
}

TEST_F(ControlTest, AForeignTopologyOrAnImpossiblePlanIsNotUsed) {
  proto::MasterUpdate foreign = MakeUpdate(Places());
  foreign.mutable_topology()->set_topology_id("other-1");
  Master(foreign);
  EXPECT_FALSE(core_.master().has_plan());
  EXPECT_EQ(core_.counters().foreign_master_updates, 1u);
  proto::MasterUpdate impossible = MakeUpdate(Places());
  impossible.mutable_plan()->mutable_containers(0)->mutable_tasks(0)->set_component("nobody");
  Master(impossible);
  EXPECT_FALSE(core_.master().has_plan());
  EXPECT_EQ(core_.counters().bad_master_updates, 1u);
  Master(MakeUpdate(Places()));
  EXPECT_TRUE(core_.master().has_plan());
}

TEST_F(ControlTest, StreamManagersOfHigherContainersAreDialledAndFollowed) {
  proto::MasterUpdate update = MakeUpdate(Places());
  AddAddress(update, 1, {1, 0}, 1001);
  AddAddress(update, 2, {3, 1}, 4711);
  AddAddress(update, 3, {1, 0}, 1003);
  AddAddress(update, 9, {1, 0}, 1009);  // not in the plan
  AddAddress(update, 3, {1, 0}, 0);     // nowhere
  Master(update);
  ASSERT_EQ(world_.targets.size(), 1u);
  EXPECT_EQ(world_.targets[3], "127.0.0.1:1003 1.0");
  proto::MasterUpdate moved = Repeat();
  AddAddress(moved, 3, {1, 1}, 2003);
  Master(moved);
  EXPECT_EQ(world_.targets[3], "127.0.0.1:2003 1.1");
  proto::MasterUpdate late = Repeat();
  AddAddress(late, 3, {1, 0}, 1003);
  Master(late);
  EXPECT_EQ(world_.targets[3], "127.0.0.1:2003 1.1") << "a lower epoch is an old address";
  Master(Repeat(2));  // a new master that knows nobody yet
  EXPECT_EQ(world_.targets[3], "127.0.0.1:2003 1.1") << "data goes on";
}

TEST_F(ControlTest, OnlyTasksOfThisContainerAndPlannedPeersAreAdmitted) {
  EXPECT_FALSE(core_.RefuseInstance(99).has_value()) << "not known yet";
  EXPECT_TRUE(core_.RefusePeer(3).has_value()) << "it is this one that dials 3";
  core_.OnInstanceUp(3, {1, 0}, now_);  // lives in container 1
  core_.OnInstanceUp(1, {3, 0}, now_);
  core_.OnPeerUp(0, {1, 0}, now_);
  Master(MakeUpdate(Places()));
  EXPECT_EQ(world_.closed, std::vector<TaskId>{3});
  EXPECT_EQ(world_.closed_peers, std::vector<ContainerId>{0});
  EXPECT_TRUE(core_.RefuseInstance(3).has_value());
  EXPECT_TRUE(core_.RefuseInstance(99).has_value());
  EXPECT_FALSE(core_.RefuseInstance(1).has_value());
  EXPECT_FALSE(core_.RefusePeer(1).has_value());
  EXPECT_TRUE(core_.RefusePeer(0).has_value());
}

TEST_F(ControlTest, PeersHearOfLocalTasksAndInstancesOfAll) {
  Master(MakeUpdate(Places()));
  core_.OnPeerUp(1, {1, 0}, now_);
  core_.OnInstanceUp(1, {3, 0}, now_);
  auto to_peer = world_.LastStatesToPeer(1);
  EXPECT_EQ(to_peer.container(), 2);
  ASSERT_EQ(to_peer.tasks_size(), 2);
  EXPECT_TRUE(to_peer.tasks(0).up());
  EXPECT_EQ(to_peer.tasks(0).epoch().incarnation(), 3u);
  EXPECT_FALSE(to_peer.tasks(1).up());

  core_.OnPeerFrame(1, proto::CONTROL, proto::TASK_STATES,
                    StatesFrame(1, {1, 0}, 1, {{3, true}}), now_);
  Pass(milliseconds(20));
  auto to_instance = world_.LastStatesTo(1);
  ASSERT_EQ(to_instance.tasks_size(), 4);
  EXPECT_TRUE(to_instance.tasks(2).up());
  EXPECT_TRUE(to_instance.tasks(2).stopped());

  core_.OnPeerDown(1, now_);
  Pass(milliseconds(20));
  to_instance = world_.LastStatesTo(1);
  EXPECT_FALSE(to_instance.tasks(2).up());
  EXPECT_FALSE(to_instance.tasks(2).stopped());
  EXPECT_EQ(to_instance.tasks(2).epoch().incarnation(), 1u) << "the last epoch stays known";

  const size_t before = world_.to_peers.size() + world_.to_instances.size();
  core_.OnPeerUp(1, {1, 1}, now_);
  Pass(milliseconds(500));
  EXPECT_GT(world_.to_peers.size() + world_.to_instances.size(), before + 2) << "repeated";
}

TEST_F(ControlTest, StatesOfAnotherContainerAnEarlierEpochOrANumberThatWasThereAreNotTaken) {
  Master(MakeUpdate(Places()));
  core_.OnInstanceUp(1, {3, 0}, now_);
  core_.OnPeerUp(1, {1, 1}, now_);
  const auto states = [&](ContainerId container, Epoch epoch, uint64_t number, TaskId task) {
    core_.OnPeerFrame(1, proto::CONTROL, proto::TASK_STATES,
                      StatesFrame(container, epoch, number, {{task, true}}), now_);
    core_.OnInstanceFrame(1, proto::DATA, proto::TUPLE_BATCH, BatchFrame(1, 4, number), now_);
  };
  states(3, {1, 1}, 1, 4);  // speaks for container 3
  states(1, {1, 0}, 2, 3);  // of an earlier life
  states(1, {1, 1}, 5, 4);  // names a task that is not its own
  states(1, {1, 1}, 4, 3);  // older than the last
  EXPECT_TRUE(world_.paused.empty());
  EXPECT_EQ(core_.counters().forged_frames, 2u);
  EXPECT_EQ(core_.counters().stale_task_states, 1u);
}

TEST_F(ControlTest, AStopSaidBeforeThePlanIsRemembered) {
  core_.OnInstanceUp(1, {3, 0}, now_);
  core_.OnPeerUp(1, {1, 0}, now_);
  core_.OnPeerFrame(1, proto::CONTROL, proto::TASK_STATES,
                    StatesFrame(1, {1, 0}, 1, {{3, true}}), now_);
  Master(MakeUpdate(Places()));
  core_.OnInstanceFrame(1, proto::DATA, proto::TUPLE_BATCH, BatchFrame(1, 3, 1), now_);
  EXPECT_TRUE(world_.paused.contains(1));
  EXPECT_TRUE(world_.NumbersToPeer(1).empty());
}

}  // namespace
}  // namespace heron::stream_manager
