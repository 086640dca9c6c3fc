#include "heron/state/lease_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heron::state {
namespace {

using std::chrono::milliseconds;

// One lease node with versions, and what scripts do to it. Time is a number of milliseconds.
class LeaseCoreTest : public testing::Test {
 protected:
  using Do = LeaseCore::Do;

  static MonotonicTime At(int ms) {
    return MonotonicTime(std::chrono::hours(1)) + milliseconds(ms);
  }
  static LeaseCore Make(const std::string& holder) {
    return LeaseCore({.holder = holder, .payload = "of " + holder, .lease = milliseconds(1000)});
  }

  Result<int64_t> Apply(const LeaseCore::Step& step) {
    if (step.what == Do::kCreate && version_ != 0) return AlreadyExists("");
    if (step.what == Do::kSet && version_ == 0) return NotFound("");
    if (step.what == Do::kSet && version_ != step.expected_version) return VersionMismatch("");
    value_ = step.value;
    version_ = ++last_version_;
    return version_;
  }
  Result<std::string> Value() const {
    if (version_ == 0) return NotFound("");
    return value_;
  }
  proto::Lease Record() const {
    proto::Lease record;
    EXPECT_TRUE(record.ParseFromString(value_));
    return record;
  }

  // One step at this time; a call to the store takes no time. False: it waits.
  bool StepOnce(LeaseCore& core, int ms) {
    LeaseCore::Step step = core.Next(At(ms));
    if (step.what == Do::kWait) return false;
    if (step.what == Do::kRead) {
      core.OnRead(At(ms), Value(), version_);
    } else {
      core.OnWritten(At(ms), At(ms), Apply(step));
    }
    return true;
  }
  // Everything it wants to do until then, waiting as it asks to.
  void RunUntil(LeaseCore& core, int from, int to) {
    MonotonicTime now = At(from);
    for (int steps = 0; now <= At(to) && steps < 10000; ++steps) {
      int ms = static_cast<int>((now - At(0)) / milliseconds(1));
      if (StepOnce(core, ms)) continue;
      now = std::max(core.Next(now).wait_until, now + milliseconds(1));
    }
  }
  LeaseCore Holder() {
    LeaseCore core = Make("a");
    RunUntil(core, 0, 0);
    EXPECT_TRUE(core.Held(At(0)));
    return core;
  }

  std::string value_;
  int64_t version_ = 0;
  int64_t last_version_ = 0;
};

TEST_F(LeaseCoreTest, TheFirstCreatesTheNode) {
  LeaseCore a = Make("a");
  EXPECT_EQ(a.Next(At(0)).what, Do::kRead);
  EXPECT_TRUE(StepOnce(a, 0));
  EXPECT_EQ(a.Next(At(0)).what, Do::kCreate);
  EXPECT_FALSE(a.Held(At(0)));
  EXPECT_TRUE(StepOnce(a, 0));
  EXPECT_TRUE(a.Held(At(0)));
  EXPECT_EQ(a.epoch(), 1u);
  EXPECT_EQ(Record().payload(), "of a");
}

TEST_F(LeaseCoreTest, TheHolderRenewsEveryThirdAndKeepsItsEpoch) {
  LeaseCore a = Holder();
  EXPECT_FALSE(StepOnce(a, 332));
  EXPECT_TRUE(StepOnce(a, 334));
  EXPECT_EQ(Record().counter(), 2u);
  RunUntil(a, 335, 10'000);
  EXPECT_TRUE(a.Held(At(10'000)));
  EXPECT_EQ(a.epoch(), 1u);
  EXPECT_GE(Record().counter(), 29u);
}

TEST_F(LeaseCoreTest, AContenderStaysOutWhileTheHolderRenews) {
  LeaseCore a = Holder();
  LeaseCore b = Make("b");
  for (int ms = 0; ms < 10'000; ++ms) {
    while (StepOnce(a, ms)) {
    }
    while (StepOnce(b, ms)) {
    }
    ASSERT_FALSE(b.Held(At(ms)));
    ASSERT_TRUE(a.Held(At(ms)));
  }
}

// Whatever the moment the holder stops at, it counts itself out before a contender gets in.
TEST_F(LeaseCoreTest, HolderAndContenderNeverHoldTogether) {
  for (int stop = 0; stop < 1000; stop += 7) {
    version_ = 0;
    LeaseCore a = Holder();
    LeaseCore b = Make("b");
    int taken_at = 0;
    for (int ms = 0; ms < 5000 && taken_at == 0; ++ms) {
      if (ms <= stop) {
        while (StepOnce(a, ms)) {
        }
      }
      while (StepOnce(b, ms)) {
      }
      if (b.Held(At(ms))) taken_at = ms;
    }
    ASSERT_GT(taken_at, 0) << "never taken over";
    EXPECT_FALSE(a.Held(At(taken_at)));
    EXPECT_EQ(b.epoch(), 2u);
    EXPECT_LE(taken_at, stop + 1200) << "too late";
    // The stopped one wakes up: it knows that it has lost before it does anything, and stays out.
    RunUntil(a, taken_at, taken_at);
    EXPECT_FALSE(a.Held(At(taken_at)));
    EXPECT_EQ(Record().holder(), "b");
  }
}

TEST_F(LeaseCoreTest, ALateHolderGainsAgainWithAHigherEpoch) {
  LeaseCore a = Holder();
  EXPECT_FALSE(a.Held(At(5000)));
  RunUntil(a, 5000, 5000);
  EXPECT_TRUE(a.Held(At(5000)));
  EXPECT_EQ(a.epoch(), 2u) << "nobody took it, but it was not held all the time";
}

TEST_F(LeaseCoreTest, ARenewalThatTookTooLongRenewsNothing) {
  LeaseCore a = Holder();
  LeaseCore::Step step = a.Next(At(400));
  ASSERT_EQ(step.what, Do::kSet);
  Result<int64_t> written = Apply(step);
  a.OnWritten(At(400), At(3000), written);
  EXPECT_FALSE(a.Held(At(3000)));
  RunUntil(a, 3000, 3000);
  EXPECT_EQ(a.epoch(), 2u);
}

TEST_F(LeaseCoreTest, AGainThatTookTooLongIsNone) {
  LeaseCore a = Make("a");
  StepOnce(a, 0);
  LeaseCore::Step step = a.Next(At(0));
  Result<int64_t> written = Apply(step);
  a.OnWritten(At(0), At(2000), written);
  EXPECT_FALSE(a.Held(At(2000)));
  RunUntil(a, 2000, 2000);
  EXPECT_TRUE(a.Held(At(2000)));
  EXPECT_EQ(a.epoch(), 2u);
}

TEST_F(LeaseCoreTest, AWriteStoppedBeforeTheStoreFailsThere) {
  LeaseCore a = Holder();
  LeaseCore::Step stale = a.Next(At(400));  // decided, then stopped
  LeaseCore b = Make("b");
  RunUntil(b, 401, 3000);
  ASSERT_TRUE(b.Held(At(3000)));
  Result<int64_t> written = Apply(stale);
  EXPECT_EQ(written.status().code(), StatusCode::kVersionMismatch);
  a.OnWritten(At(400), At(3000), written);
  RunUntil(a, 3000, 3000);
  EXPECT_FALSE(a.Held(At(3000)));
  EXPECT_TRUE(b.Held(At(3000)));
}

TEST_F(LeaseCoreTest, ALostAnswerIsReadBack) {
  LeaseCore a = Holder();
  LeaseCore::Step step = a.Next(At(400));
  ASSERT_TRUE(Apply(step).ok());
  a.OnWritten(At(400), At(410), Unavailable("no answer"));
  EXPECT_TRUE(a.Held(At(410)));
  RunUntil(a, 410, 3000);
  EXPECT_TRUE(a.Held(At(3000)));
  EXPECT_EQ(a.epoch(), 1u) << "the renewal had arrived";

  version_ = 0;
  LeaseCore b = Make("b");
  StepOnce(b, 0);
  ASSERT_TRUE(Apply(b.Next(At(0))).ok());
  b.OnWritten(At(0), At(10), Unavailable("no answer"));
  EXPECT_FALSE(b.Held(At(10)));
  RunUntil(b, 10, 200);
  EXPECT_TRUE(b.Held(At(200)));
  EXPECT_EQ(b.epoch(), 1u) << "the gain had arrived";
}

TEST_F(LeaseCoreTest, AWriteThatDidNotArriveIsRepeatedInTime) {
  LeaseCore a = Holder();
  a.Next(At(400));
  a.OnWritten(At(400), At(410), Unavailable("disk"));
  RunUntil(a, 410, 700);
  EXPECT_TRUE(a.Held(At(1200)));
  EXPECT_EQ(a.epoch(), 1u);
}

TEST_F(LeaseCoreTest, AStoreThatFailsCostsTheLease) {
  LeaseCore a = Holder();
  bool held = true;
  int calls = 0;
  for (int ms = 334; ms < 3000; ++ms) {
    LeaseCore::Step step = a.Next(At(ms));
    if (step.what == Do::kRead) a.OnRead(At(ms), Unavailable("disk"), 0), ++calls;
    if (step.what == Do::kSet) a.OnWritten(At(ms), At(ms), Unavailable("disk")), ++calls;
    held = a.Held(At(ms));
    if (ms < 850) {
      EXPECT_TRUE(held) << ms;
    } else if (ms > 900) {
      EXPECT_FALSE(held) << ms;
    }
  }
  EXPECT_LT(calls, 40) << "a failing store is not asked all the time";
}

TEST_F(LeaseCoreTest, AReleasedLeaseIsTakenAtOnceWithAHigherEpoch) {
  LeaseCore a = Holder();
  LeaseCore::Step release = a.Release(At(10));
  ASSERT_TRUE(Apply(release).ok());
  EXPECT_FALSE(a.Held(At(10)));
  LeaseCore b = Make("b");
  RunUntil(b, 11, 11);
  EXPECT_TRUE(b.Held(At(11)));
  EXPECT_EQ(b.epoch(), 2u);
  EXPECT_FALSE(Record().released());
  EXPECT_EQ(a.Release(At(12)).what, Do::kWait) << "nothing to release twice";
}

TEST_F(LeaseCoreTest, OneOfTwoContendersWins) {
  LeaseCore a = Make("a");
  LeaseCore b = Make("b");
  StepOnce(a, 0);
  StepOnce(b, 0);
  LeaseCore::Step step_a = a.Next(At(0));
  LeaseCore::Step step_b = b.Next(At(0));
  b.OnWritten(At(0), At(0), Apply(step_b));
  a.OnWritten(At(0), At(0), Apply(step_a));
  RunUntil(a, 0, 50);
  EXPECT_TRUE(b.Held(At(50)));
  EXPECT_FALSE(a.Held(At(50)));
}

TEST_F(LeaseCoreTest, AContenderThatWasAwayWatchesAnew) {
  Holder();
  LeaseCore b = Make("b");
  RunUntil(b, 0, 100);
  // The whole machine stood still for a minute. The holder gets its chance.
  RunUntil(b, 60'000, 60'500);
  EXPECT_FALSE(b.Held(At(60'500)));
  RunUntil(b, 60'500, 61'200);
  EXPECT_TRUE(b.Held(At(61'200)));
}

TEST_F(LeaseCoreTest, ANewPayloadIsWrittenAtOnce) {
  LeaseCore a = Holder();
  EXPECT_FALSE(StepOnce(a, 10));
  a.SetPayload("new");
  EXPECT_TRUE(StepOnce(a, 10));
  EXPECT_EQ(Record().payload(), "new");
  EXPECT_FALSE(StepOnce(a, 10));
  EXPECT_EQ(a.epoch(), 1u);
}

TEST_F(LeaseCoreTest, ADamagedRecordIsNotOverwritten) {
  LeaseCore a = Make("a");
  version_ = ++last_version_;
  value_ = "\xff\xff";
  RunUntil(a, 0, 10'000);
  EXPECT_FALSE(a.Held(At(10'000)));
  EXPECT_EQ(value_, "\xff\xff");
  version_ = 0;  // somebody deletes it
  RunUntil(a, 10'000, 12'000);
  EXPECT_TRUE(a.Held(At(12'000)));
}

TEST_F(LeaseCoreTest, TheEpochRisesOverADeletedNode) {
  LeaseCore a = Holder();
  version_ = 0;
  RunUntil(a, 1, 2000);
  EXPECT_TRUE(a.Held(At(2000)));
  EXPECT_EQ(a.epoch(), 2u);
}

}  // namespace
}  // namespace heron::state
