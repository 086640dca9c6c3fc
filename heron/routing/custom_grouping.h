// A grouping that a user writes. The engine makes one object per emitting task and subscription,
// in the emitting task's process, with the factory given to BoltHandle::Custom.
// Thread: the emitting task's, for its whole life.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heron/model/field_view.h"

namespace heron::routing {

// What a custom grouping chooses for. Does not change in the object's life.
struct CustomGroupingContext {
  std::string stream;            // that is emitted
  std::string source_component;  // that emits
  std::vector<int32_t> tasks;    // of the subscriber, tasks[i] having component index i; not empty
};

// What one of these calls throws counts as thrown by the component that emits: out of Emit for
// Choose, where the tuple then goes nowhere, before Open or Prepare for the others.
class CustomGrouping {
 public:
  virtual ~CustomGrouping() = default;
  // Once, before the emitting component's Open or Prepare.
  virtual void Prepare(const CustomGroupingContext&) {}
  // Appends the tasks of the subscriber that get this tuple to `tasks`, which is empty: none, one
  // or more. A task named twice gets the tuple twice. A task that is not of the subscriber gets
  // nothing and is counted as refused. `values` are valid during the call; must not emit.
  virtual void Choose(std::span<const model::FieldView> values, std::vector<int32_t>& tasks) = 0;
};

}  // namespace heron::routing

namespace heron {
using routing::CustomGrouping;
using routing::CustomGroupingContext;
}  // namespace heron
