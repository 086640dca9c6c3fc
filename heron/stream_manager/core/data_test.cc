// The rules of the data path, one scripted scenario each. The core is container 2 of three; see Places().
#include <gtest/gtest.h>

#include <memory>

#include "heron/stream_manager/core/recorded_world.h"
#include "heron/stream_manager/core/stream_manager_core.h"

namespace heron::stream_manager {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Container 2: spouts 1 and 2, bolts 3 and 4. Container 1: bolts 5 and 6. Container 3: bolt 7.
TaskPlaces Places() {
  return {{"s", 2}, {"s", 2}, {"b", 2}, {"b", 2}, {"b", 1}, {"b", 1}, {"b", 3}};
}

class DataTest : public testing::Test {
 protected:
  DataTest() {
    settings_.queue_high_bytes = 10'000;
    settings_.lane_bytes = 1'000;
    settings_.peer_in_flight_bytes = 5'000;
    settings_.frame_max_bytes = 5'000;
    Make();
  }

  void Make() {
    core_ = std::make_unique<StreamManagerCore>(
        CoreIdentity{kTestTopologyId, 2, {1, 0}, "127.0.0.1", 4711}, settings_,
        [this](const proto::SubmittedTopology&) { return settings_; }, &world_, now_);
  }

  void Plan() { core_->OnMasterFrame(proto::MASTER_UPDATE, Update(MakeUpdate(Places())), now_); }
  static BufferSlice Update(const proto::MasterUpdate& update) {
    return net::EncodeFrame(proto::MASTER_UPDATE, update);
  }
  void AllUp() {
    Plan();
    for (TaskId task : {1, 2, 3, 4}) core_->OnInstanceUp(task, {1, 0}, now_);
    for (ContainerId container : {1, 3}) core_->OnPeerUp(container, {1, 0}, now_);
  }
  void FromInstance(TaskId task, BufferSlice frame) {
    const uint16_t type = TypeOf(frame);
    core_->OnInstanceFrame(task, proto::DATA, type, std::move(frame), now_);
  }
  void FromPeer(ContainerId container, BufferSlice frame) {
    const uint16_t type = TypeOf(frame);
    core_->OnPeerFrame(container, proto::DATA, type, std::move(frame), now_);
  }
  void States(ContainerId container, std::vector<std::pair<TaskId, bool>> tasks) {
    core_->OnPeerFrame(container, proto::CONTROL, proto::TASK_STATES,
                       StatesFrame(container, {1, 0}, ++states_number_, tasks), now_);
  }
  // Lets time pass the way the owner does: timers on time.
  void Pass(Duration time) {
    const MonotonicTime end = now_ + time;
    while (core_->NextWake() <= end) {
      now_ = std::max(now_, core_->NextWake());
      core_->OnTimer(now_);
    }
    now_ = end;
  }
  bool Paused(TaskId task) const { return world_.paused.contains(task); }
  bool ToldStopped(ContainerId peer, TaskId task) const {
    const proto::TaskStates states = world_.LastStatesToPeer(peer);
    for (const auto& state : states.tasks()) {
      if (state.task() == task) return state.stopped();
    }
    return false;
  }

  MonotonicTime now_{std::chrono::hours(1)};
  uint64_t states_number_ = 0;
  CoreSettings settings_;
  RecordedWorld world_;
  std::unique_ptr<StreamManagerCore> core_;
};

TEST_F(DataTest, FramesAreForwardedUnchangedToLocalAndRemoteTasks) {
  AllUp();
  const BufferSlice local = BatchFrame(1, 3, 1, 300);
  const BufferSlice remote = BatchFrame(1, 7, 1, 300);
  FromInstance(1, local);
  FromInstance(1, remote);
  ASSERT_EQ(world_.FramesTo(3, proto::TUPLE_BATCH).size(), 1u);
  // Not only equal bytes: the same memory.
  EXPECT_EQ(world_.FramesTo(3, proto::TUPLE_BATCH)[0].data(), local.data());
  ASSERT_EQ(world_.FramesToPeer(3, proto::TUPLE_BATCH).size(), 1u);
  EXPECT_EQ(world_.FramesToPeer(3, proto::TUPLE_BATCH)[0].data(), remote.data());
}

TEST_F(DataTest, WithoutAPlanNoDataLaneIsRead) {
  core_->OnInstanceUp(1, {1, 0}, now_);
  core_->OnPeerUp(1, {1, 0}, now_);
  EXPECT_TRUE(Paused(1));
  EXPECT_TRUE(world_.paused_peers.contains(1));
  EXPECT_TRUE(world_.FramesTo(1, proto::INSTANCE_PLAN).empty());
  Plan();
  EXPECT_FALSE(Paused(1));
  EXPECT_FALSE(world_.paused_peers.contains(1));
  EXPECT_EQ(world_.FramesTo(1, proto::INSTANCE_PLAN).size(), 1u);
}

TEST_F(DataTest, ALocalTaskIsStoppedAboveTheHighMarkAndReleasedUnderTheLowOne) {
  AllUp();
  world_.stuck_instances.insert(3);
  uint64_t number = 0;
  while (!ToldStopped(1, 3)) {
    ASSERT_LT(number, 100u);
    FromPeer(1, BatchFrame(5, 3, ++number, 1'000));
  }
  EXPECT_GT(core_->router().QueuedBytes(3), settings_.queue_high_bytes);
  EXPECT_LE(core_->router().QueuedBytes(3), settings_.queue_high_bytes + 1'100);
  EXPECT_TRUE(ToldStopped(3, 3)) << "every peer must know, not only the one that sends";
  EXPECT_TRUE(world_.paused_peers.empty()) << "lanes between stream managers are never paused";

  // Just under the high mark it stays stopped.
  world_.instance_queued[{3, proto::DATA}] = 0;
  core_->OnInstanceWritable(3, now_);
  EXPECT_TRUE(ToldStopped(1, 3));
  while (core_->router().QueuedBytes(3) > settings_.queue_low_bytes()) {
    EXPECT_TRUE(ToldStopped(1, 3));
    world_.instance_queued[{3, proto::DATA}] = 0;
    core_->OnInstanceWritable(3, now_);
  }
  EXPECT_FALSE(ToldStopped(1, 3));
  world_.Unstick(3);
  core_->OnInstanceWritable(3, now_);
  std::vector<uint64_t> expected;
  for (uint64_t i = 1; i <= number; ++i) expected.push_back(i);
  EXPECT_EQ(world_.NumbersTo(3), expected);
}

TEST_F(DataTest, OnlyFeedersOfTheStoppedTaskArePausedAndAllAreResumed) {
  AllUp();
  world_.stuck_instances.insert(3);
  uint64_t number = 0;
  while (!Paused(1)) FromInstance(1, BatchFrame(1, 3, ++number, 1'000));
  EXPECT_FALSE(Paused(2));
  FromInstance(2, BatchFrame(2, 4, 1));
  EXPECT_FALSE(Paused(2)) << "task 2 feeds another task";
  EXPECT_EQ(world_.NumbersTo(4), std::vector<uint64_t>{1});
  FromInstance(2, BatchFrame(2, 3, 1));
  EXPECT_TRUE(Paused(2));
  world_.Unstick(3);
  core_->OnInstanceWritable(3, now_);
  EXPECT_FALSE(Paused(1));
  EXPECT_FALSE(Paused(2));
  EXPECT_EQ(world_.NumbersTo(3).size(), number + 1);
}

TEST_F(DataTest, AFeederOfTwoStoppedTasksWaitsForBoth) {
  AllUp();
  States(1, {{5, true}});
  States(3, {{7, true}});
  FromInstance(1, BatchFrame(1, 5, 1));
  FromInstance(1, BatchFrame(1, 7, 1));  // was read already when the pause came
  EXPECT_TRUE(Paused(1));
  EXPECT_TRUE(world_.NumbersToPeer(1).empty()) << "nothing is sent to a stopped task";
  States(1, {{5, false}});
  EXPECT_TRUE(Paused(1));
  EXPECT_EQ(world_.NumbersToPeer(1), std::vector<uint64_t>{1});
  core_->OnPeerFrame(3, proto::CONTROL, proto::TASK_STATES,
                     StatesFrame(3, {1, 0}, ++states_number_, {{7, false}}), now_);
  EXPECT_FALSE(Paused(1));
  EXPECT_EQ(world_.NumbersToPeer(3), std::vector<uint64_t>{1});
}

TEST_F(DataTest, AStoppedTaskDoesNotHoldBackItsNeighbourBehindTheSamePeer) {
  AllUp();
  States(1, {{5, true}, {6, false}});
  FromInstance(1, BatchFrame(1, 5, 1));
  FromInstance(2, BatchFrame(2, 6, 1));
  ASSERT_EQ(world_.FramesToPeer(1, proto::TUPLE_BATCH).size(), 1u);
  EXPECT_FALSE(Paused(2));
}

TEST_F(DataTest, AQueueTowardsAPeerBlocksByItsOwnMarks) {
  AllUp();
  world_.stuck_peers.insert(3);
  uint64_t number = 0;
  while (!Paused(1)) {
    ASSERT_LT(number, 100u);
    FromInstance(1, BatchFrame(1, 7, ++number, 1'000));
  }
  EXPECT_GT(core_->router().QueuedBytes(7), settings_.queue_high_bytes);
  EXPECT_FALSE(ToldStopped(1, 7)) << "only its own stream manager marks a task";
  world_.UnstickPeer(3);
  core_->OnPeerWritable(3, now_);
  EXPECT_FALSE(Paused(1));
  EXPECT_EQ(world_.NumbersToPeer(3).size(), number);
}

TEST_F(DataTest, AFeedbackStreamNeverHoldsBackItsFeederAndIsDroppedOverTheCap) {
  // Spouts emit to bolts 3 and 4, which emit to themselves by feedback, and to 5 to 7 too.
  proto::MasterUpdate update = MakeUpdate(Places());
  proto::Component& bolt = *update.mutable_topology()->mutable_topology()->mutable_components(1);
  ASSERT_EQ(bolt.name(), "b");
  proto::InputStream* loop = bolt.add_inputs();
  loop->set_component("b");
  loop->set_stream("default");
  loop->set_grouping(proto::SHUFFLE);
  loop->set_feedback(true);
  core_->OnMasterFrame(proto::MASTER_UPDATE, Update(update), now_);
  for (TaskId task : {1, 2, 3, 4}) core_->OnInstanceUp(task, {1, 0}, now_);
  for (ContainerId container : {1, 3}) core_->OnPeerUp(container, {1, 0}, now_);
  world_.stuck_instances.insert(3);
  States(3, {{7, true}});
  uint64_t number = 0;
  while (core_->router().DropsOf(3) == nullptr) {
    ASSERT_LT(number, 500u);
    ++number;
    FromInstance(4, BatchFrame(4, 3, number, 1'000, 2));
    FromInstance(4, BatchFrame(4, 7, number, 1'000));
    ASSERT_FALSE(Paused(4)) << "it may be what the others wait for";
  }
  EXPECT_GT(core_->router().QueuedBytes(3), settings_.queue_high_bytes);
  EXPECT_EQ(core_->router().DropsOf(3)->at(kDropOverflow), 2u);
  EXPECT_GT(core_->router().DropsOf(4)->at(kDropOverflow), 0u) << "of what is for another container";
  FromInstance(1, BatchFrame(1, 3, 1));
  EXPECT_TRUE(Paused(1)) << "others are held back as ever";
}

TEST_F(DataTest, TasksBehindOnePeerTakeTurns) {
  AllUp();
  world_.stuck_peers.insert(1);
  FromInstance(1, BatchFrame(1, 5, 100, 2'000));  // fills the lane
  for (uint64_t i = 1; i <= 4; ++i) FromInstance(1, BatchFrame(1, 5, i));
  for (uint64_t i = 11; i <= 12; ++i) FromInstance(2, BatchFrame(2, 6, i));
  world_.UnstickPeer(1);
  core_->OnPeerWritable(1, now_);
  EXPECT_EQ(world_.NumbersToPeer(1), (std::vector<uint64_t>{100, 1, 11, 2, 12, 3, 4}));
}

TEST_F(DataTest, ANewcomerDoesNotPassThoseWhoWaitForTheLane) {
  AllUp();
  world_.peer_queued[{1, proto::DATA}] = settings_.lane_bytes;
  FromInstance(1, BatchFrame(1, 5, 1));
  FromInstance(1, BatchFrame(1, 5, 2));
  world_.peer_queued[{1, proto::DATA}] = settings_.lane_bytes - 1;  // room, not yet announced
  FromInstance(2, BatchFrame(2, 6, 11));
  EXPECT_EQ(world_.NumbersToPeer(1), (std::vector<uint64_t>{1, 11, 2}));
}

TEST_F(DataTest, ABatchFromAPeerIsNeverSentToAnotherPeer) {
  AllUp();
  FromPeer(1, BatchFrame(5, 7, 1));
  FromPeer(1, EndedFrame(5, 7));
  FromPeer(1, ConfirmedFrame(7, 5));
  EXPECT_TRUE(world_.FramesToPeer(3, proto::TUPLE_BATCH).empty());
  EXPECT_TRUE(world_.FramesToPeer(3, proto::ENDED).empty());
  EXPECT_TRUE(world_.FramesToPeer(3, proto::ENDED_CONFIRMED).empty());
  EXPECT_EQ(core_->counters().misrouted_frames, 3u);
}

TEST_F(DataTest, EndedStaysBehindTheBatchesOfItsChannel) {
  AllUp();
  world_.stuck_instances.insert(3);
  for (uint64_t i = 1; i <= 5; ++i) FromInstance(1, BatchFrame(1, 3, i, 1'000));
  FromInstance(1, EndedFrame(1, 3, 5));
  EXPECT_TRUE(world_.FramesTo(3, proto::ENDED).empty());
  world_.Unstick(3);
  core_->OnInstanceWritable(3, now_);
  std::vector<uint16_t> types;
  for (const auto& sent : world_.to_instances) {
    if (sent.to == 3 && sent.lane == proto::DATA) types.push_back(TypeOf(sent.frame));
  }
  ASSERT_EQ(types.size(), 6u);
  EXPECT_EQ(types.back(), proto::ENDED);
}

TEST_F(DataTest, ConfirmationsPassStoppedQueues) {
  AllUp();
  world_.stuck_instances.insert(1);
  world_.instance_queued[{1, proto::DATA}] = 1 << 20;
  // From a local bolt to a local spout: ack lane.
  core_->OnInstanceFrame(3, proto::ACK, proto::ENDED_CONFIRMED, ConfirmedFrame(1, 3), now_);
  // From a peer's bolt: arrives in the peer's data lane.
  FromPeer(1, ConfirmedFrame(1, 5));
  const auto confirmed = world_.FramesTo(1, proto::ENDED_CONFIRMED);
  ASSERT_EQ(confirmed.size(), 2u);
  for (const auto& sent : world_.to_instances) {
    if (TypeOf(sent.frame) == proto::ENDED_CONFIRMED) {
      EXPECT_EQ(sent.lane, proto::ACK);
    }
  }
  // To a remote source whose task is stopped, over a data lane that has no room for batches.
  States(1, {{5, true}});
  world_.peer_queued[{1, proto::DATA}] = settings_.lane_bytes;
  core_->OnInstanceFrame(3, proto::ACK, proto::ENDED_CONFIRMED, ConfirmedFrame(5, 3), now_);
  EXPECT_EQ(world_.FramesToPeer(1, proto::ENDED_CONFIRMED).size(), 1u);
}

TEST_F(DataTest, ConfirmationsAreBoundedAndCounted) {
  AllUp();
  world_.peer_queued[{1, proto::DATA}] = settings_.lane_bytes + settings_.confirm_lane_bytes;
  core_->OnInstanceFrame(3, proto::ACK, proto::ENDED_CONFIRMED, ConfirmedFrame(5, 3), now_);
  EXPECT_TRUE(world_.FramesToPeer(1, proto::ENDED_CONFIRMED).empty());
  EXPECT_EQ(core_->counters().dropped_confirmations, 1u);
}

TEST_F(DataTest, ADeadTaskIsHeldUpToTheHighMarkAndDeliveredWhenItIsBack) {
  AllUp();
  core_->OnInstanceDown(3, now_);
  uint64_t number = 0;
  while (!Paused(1)) {
    ASSERT_LT(number, 100u);
    FromInstance(1, BatchFrame(1, 3, ++number, 1'000));
  }
  EXPECT_TRUE(ToldStopped(1, 3));
  Pass(seconds(9));
  EXPECT_TRUE(Paused(1));
  core_->OnInstanceUp(3, {1, 1}, now_);
  EXPECT_FALSE(Paused(1));
  EXPECT_EQ(world_.NumbersTo(3).size(), number);
  EXPECT_EQ(core_->counters().dropped_frames, 0u);
}

TEST_F(DataTest, AfterTheGraceTimeADeadTasksDataIsDroppedAndCountedUntilItIsBack) {
  AllUp();
  core_->OnMasterUp(now_);
  core_->OnInstanceFrame(3, proto::CONTROL, proto::TASK_REPORT,
                         ReportFrame(3, {1, 0}, proto::TaskStatus::RUNNING, 42), now_);
  core_->OnInstanceDown(3, now_);
  uint64_t number = 0;
  while (!Paused(1)) FromInstance(1, BatchFrame(1, 3, ++number, 1'000, 10));
  Pass(seconds(11));
  EXPECT_FALSE(Paused(1)) << "nobody waits for a task that is given up";
  EXPECT_FALSE(ToldStopped(1, 3));
  EXPECT_EQ(core_->router().QueuedBytes(3), 0u);
  FromInstance(1, BatchFrame(1, 3, ++number, 1'000, 10));
  FromPeer(1, BatchFrame(5, 3, 1, 1'000, 7));
  Pass(milliseconds(600));
  const proto::StreamManagerReport report = world_.LastReport();
  ASSERT_EQ(report.tasks_size(), 1);
  EXPECT_EQ(report.tasks(0).phase(), proto::TaskStatus::DOWN);
  EXPECT_EQ(report.tasks(0).executed(), 42u);
  EXPECT_EQ(report.tasks(0).drop_reasons().at("destination_down"), number * 10 + 7);
  EXPECT_EQ(report.tasks(0).dropped_tuples(), number * 10 + 7);

  core_->OnInstanceUp(3, {1, 1}, now_);
  FromInstance(1, BatchFrame(1, 3, ++number));
  EXPECT_EQ(world_.NumbersTo(3), std::vector<uint64_t>{number});
}

TEST_F(DataTest, DropsForARemoteTaskAreCountedAtTheLocalSource) {
  AllUp();
  core_->OnMasterUp(now_);
  core_->OnInstanceFrame(1, proto::CONTROL, proto::TASK_REPORT,
                         ReportFrame(1, {1, 0}, proto::TaskStatus::RUNNING), now_);
  core_->OnPeerDown(3, now_);
  FromInstance(1, BatchFrame(1, 7, 1, 100, 5));
  Pass(seconds(11));
  FromInstance(1, BatchFrame(1, 7, 2, 100, 6));
  Pass(milliseconds(600));
  ASSERT_EQ(world_.LastReport().tasks_size(), 1);
  EXPECT_EQ(world_.LastReport().tasks(0).drop_reasons().at("destination_down"), 11u);
  core_->OnPeerUp(3, {1, 1}, now_);
  FromInstance(1, BatchFrame(1, 7, 3));
  EXPECT_EQ(world_.NumbersToPeer(3), std::vector<uint64_t>{3});
}

TEST_F(DataTest, AStopIsLeasedWithTheSession) {
  AllUp();
  States(3, {{7, true}});
  FromInstance(1, BatchFrame(1, 7, 1));
  EXPECT_TRUE(Paused(1));
  core_->OnPeerDown(3, now_);
  EXPECT_FALSE(Paused(1)) << "down is held up to the high mark, not stopped";
  core_->OnPeerUp(3, {1, 1}, now_);
  EXPECT_EQ(world_.NumbersToPeer(3), std::vector<uint64_t>{1});
}

TEST_F(DataTest, ATimerThatComesLateStartsGracePeriodsAgain) {
  AllUp();
  core_->OnInstanceDown(3, now_);
  FromInstance(1, BatchFrame(1, 3, 1));
  now_ += seconds(30);  // this process stood still
  core_->OnTimer(now_);
  EXPECT_GT(core_->router().QueuedBytes(3), 0u);
  core_->OnInstanceUp(3, {1, 1}, now_);
  EXPECT_EQ(world_.NumbersTo(3), std::vector<uint64_t>{1});
}

TEST_F(DataTest, APausedFeederThatDiesStartsUnpaused) {
  AllUp();
  States(3, {{7, true}});
  FromInstance(1, BatchFrame(1, 7, 1));
  EXPECT_TRUE(Paused(1));
  core_->OnInstanceDown(1, now_);
  world_.paused.erase(1);  // a new session reads
  core_->OnInstanceUp(1, {1, 1}, now_);
  EXPECT_FALSE(Paused(1));
  FromInstance(1, BatchFrame(1, 7, 1, 100, 1, {1, 1}));
  EXPECT_TRUE(Paused(1));
  States(3, {{7, false}});
  EXPECT_FALSE(Paused(1));
  EXPECT_EQ(world_.NumbersToPeer(3).size(), 2u) << "data of the earlier epoch is still delivered";
}

TEST_F(DataTest, APeerThatIgnoresAStopCannotFillTheMemory) {
  AllUp();
  world_.stuck_instances.insert(3);
  const size_t cap = 4 * settings_.queue_high_bytes +
                     2 * (settings_.peer_in_flight_bytes + settings_.frame_max_bytes);
  for (uint64_t i = 1; i <= 1'000; ++i) {
    FromPeer(1, BatchFrame(5, 3, i, 1'000));
    ASSERT_LE(core_->router().QueuedBytes(3), cap);
  }
  EXPECT_GT(core_->counters().overflow_frames, 0u);
}

TEST_F(DataTest, AnEndlessLocalProducerAndAStoppedConsumerAreBounded) {
  AllUp();
  world_.stuck_instances.insert(3);
  uint64_t sent = 0;
  for (int i = 0; i < 10'000; ++i) {
    for (TaskId source : {1, 2}) {
      if (!Paused(source)) FromInstance(source, BatchFrame(source, 3, ++sent, 4'000));
    }
    ASSERT_LE(core_->router().QueuedBytes(3), settings_.queue_high_bytes + 2 * 4'100);
  }
  EXPECT_LT(sent, 10u);
  EXPECT_EQ(core_->counters().overflow_frames, 0u);
}

TEST_F(DataTest, GarbageIsCountedAndNothingElse) {
  AllUp();
  const auto raw = [](uint16_t type, std::string body) {
    std::string frame(net::kFrameHeaderBytes, '\0');
    net::EncodeFrameHeader({static_cast<uint32_t>(body.size()), type}, frame.data());
    return BufferSlice::Take(frame + body);
  };
  FromInstance(1, raw(proto::TUPLE_BATCH, "\xff\xff\xff garbage"));
  FromInstance(1, raw(proto::ENDED, "\xff"));
  FromPeer(1, raw(proto::TUPLE_BATCH, ""));  // a batch for task 0
  FromPeer(1, raw(proto::ENDED_CONFIRMED, "\xff"));
  core_->OnInstanceFrame(1, proto::CONTROL, proto::TASK_REPORT, raw(proto::TASK_REPORT, "\xff"),
                         now_);
  core_->OnPeerFrame(1, proto::CONTROL, proto::TASK_STATES, raw(proto::TASK_STATES, "\xff"), now_);
  core_->OnMasterFrame(proto::MASTER_UPDATE, raw(proto::MASTER_UPDATE, "\xff"), now_);
  EXPECT_GE(core_->counters().malformed_frames, 6u);
  FromInstance(1, raw(999, "x"));
  FromPeer(1, raw(proto::MASTER_UPDATE, "x"));
  core_->OnMasterFrame(1234, raw(1234, ""), now_);
  EXPECT_EQ(core_->counters().unknown_frames, 3u);
  FromInstance(1, BatchFrame(2, 3, 1));  // says it is task 2
  FromInstance(1, EndedFrame(2, 3));
  EXPECT_EQ(core_->counters().forged_frames, 2u);
  FromInstance(1, BatchFrame(1, 99, 1));
  EXPECT_EQ(core_->counters().unknown_destinations, 2u);
  FromInstance(1, BatchFrame(1, 3, 1, settings_.frame_max_bytes + 1));  // larger than allowed
  EXPECT_TRUE(world_.NumbersTo(3).empty());
}

}  // namespace
}  // namespace heron::stream_manager
