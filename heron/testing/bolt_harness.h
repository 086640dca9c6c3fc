// Runs a bolt with tuples that the test makes.
//
//   BoltHarness h(Count{});               // or BoltHarness h(builder, "count")
//   h.InputFields("word");                // only if the bolt reads by name
//   h.Execute("a");
//   h.Finish();
//   EXPECT_THAT(h.Emitted(), ElementsAre(Row("a", 1)));
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heron/api/component.h"
#include "heron/api/context.h"
#include "heron/api/topology_builder.h"
#include "heron/api/value.h"
#include "heron/testing/task_harness.h"

namespace heron::testing {

// Where a tuple comes from.
struct TupleSource {
  std::string component = "input";
  std::string stream = "default";
  std::vector<std::string> fields = {};  // names; empty: the bolt reads by index
  int32_t task = 1000;
};

class BoltHarness : public TaskHarness {
 public:
  template <std::derived_from<Bolt> T>
  explicit BoltHarness(T bolt, HarnessOptions options = {})
      : BoltHarness(std::unique_ptr<Bolt>(std::make_unique<T>(std::move(bolt))),
                    std::move(options)) {}
  explicit BoltHarness(std::unique_ptr<Bolt> bolt, HarnessOptions options = {});
  // Of a topology: with its declarations and its configuration. Of `options` the index, the
  // arguments and the folder count, and what stands in configuration and tasks.
  BoltHarness(const TopologyBuilder& builder, const std::string& component,
              HarnessOptions options = {});
  ~BoltHarness() override;

  // The first of the following calls does it.
  void Prepare();

  // One tuple with these values, from the bolt's only input, or from "input"/"default" without a
  // builder.
  template <typename... Types>
  void Execute(const Types&... values) {
    ExecuteValues(input_, Row(values...).values());
  }
  // With a builder `source` needs component and stream only.
  template <typename... Types>
  void ExecuteFrom(const TupleSource& source, const Types&... values) {
    ExecuteValues(source, Row(values...).values());
  }
  void ExecuteValues(const TupleSource& source, const Values& values);
  const TupleSource& input() const { return input_; }
  template <typename... Names>
  void InputFields(const Names&... names) {
    input_.fields = {std::string(std::string_view(names))...};
  }

  void Tick(std::chrono::nanoseconds since_previous = std::chrono::seconds(1));
  // Finish, then Cleanup: every input has ended. Nothing may follow.
  void Finish();
  // The topology was stopped. Nothing may follow.
  void Cleanup();

 private:
  void Begin(const char* call);

  std::unique_ptr<BoltContext> context_;  // outlives the bolt
  std::unique_ptr<Bolt> bolt_;
  std::vector<TupleSource> inputs_;  // of a builder
  TupleSource input_;
  int64_t ticks_ = 0;
  bool ended_ = false;
};

}  // namespace heron::testing
