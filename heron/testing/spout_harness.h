// Runs a spout step by step.
//
//   SpoutHarness h(Lines(path));          // or SpoutHarness h(builder, "lines")
//   h.NextTuples(2);
//   EXPECT_THAT(h.Emitted(), ElementsAre(Row("first"), Row("second")));
//   h.RunToEnd();
//   EXPECT_TRUE(h.ended());
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "heron/api/component.h"
#include "heron/api/context.h"
#include "heron/api/message_id.h"
#include "heron/api/topology_builder.h"
#include "heron/testing/task_harness.h"

namespace heron::testing {

class SpoutHarness : public TaskHarness {
 public:
  // Calls of NextTuple in a row that emit nothing, until NextTuples and RunToEnd give up.
  static constexpr int kMaxEmptyCalls = 100'000;

  template <std::derived_from<Spout> T>
  explicit SpoutHarness(T spout, HarnessOptions options = {})
      : SpoutHarness(std::unique_ptr<Spout>(std::make_unique<T>(std::move(spout))),
                     std::move(options)) {}
  explicit SpoutHarness(std::unique_ptr<Spout> spout, HarnessOptions options = {});
  // See BoltHarness.
  SpoutHarness(const TopologyBuilder& builder, const std::string& component,
               HarnessOptions options = {});
  ~SpoutHarness() override;

  // The first of the following calls does it: Open, then Activate.
  void Open();
  Next NextTuple();
  // NextTuple until this many more tuples have been emitted; less when the spout has ended, waits
  // without having been woken, or emits nothing any more. Idle times are not slept. How many.
  size_t NextTuples(size_t tuples);
  size_t RunToEnd() { return NextTuples(SIZE_MAX); }
  bool ended() const { return ended_; }
  bool waiting() const { return waiting_; }  // NextTuple said so and nobody has woken it yet

  // What became of a tuple that was emitted with this id. After Fail a spout that had ended is
  // asked for tuples again.
  void Ack(const MessageId& id);
  void Fail(const MessageId& id, FailReason reason = FailReason::kFailed);

  void Activate();
  void Deactivate();
  void Close();  // nothing may follow

 private:
  void Begin(const char* call);

  std::unique_ptr<SpoutContext> context_;  // outlives the spout
  std::unique_ptr<Spout> spout_;
  bool active_ = false;
  bool waiting_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace heron::testing
