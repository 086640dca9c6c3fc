// The way from an Output to the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "heron/api/message_id.h"

#include "heron/model/field_view.h"

namespace heron {

// What became of an emit. It may be ignored: whatever is not kOk was counted and is shown.
enum class EmitResult {
  kOk = 0,
  kTooLarge,       // above topology.tuple.max.bytes, or lists nested deeper than 32
  kWrongValues,    // number or types of the values differ from the declaration
  kUnknownStream,  // an Output that ctx.Output did not make
  kTooManyAnchors, // comes of more than 255 tuples with message ids
  kWrongThread,    // from a thread that is not the task's: use context.RunInTask
  kNotATask,       // EmitTo a task that does not read the stream by direct grouping
};

namespace internal {

// A tuple that a bolt holds beyond Execute. The engine's; when the last owner goes without having
// settled it, it fails.
class Held {
 public:
  virtual ~Held() = default;
  // Acknowledges or fails it. False, and counted, the second time.
  virtual bool Settle(bool acked) = 0;
};

// What an emit asks for beyond its stream and values.
struct EmitOptions {
  const MessageId* id = nullptr;  // of a spout: it wants to hear of the tuple
  bool unanchored = false;        // of a bolt: the tuple belongs to nothing
  // Of a bolt: to what the tuple belongs, in place of the tuple that is executed.
  bool has_anchors = false;
  std::span<const std::shared_ptr<Held>> anchors;
};

// Implemented by the engine. Thread: the task's. Outputs check values against the declaration
// before they call.
class Emitter {
 public:
  virtual ~Emitter() = default;
  // `stream` is the index in the component's declared outputs. Blocks while there is no room;
  // throws nothing but what a custom grouping throws, and then the tuple goes nowhere.
  virtual EmitResult Emit(uint32_t stream, std::span<const FieldView> values) = 0;
  // To this task alone. Throws nothing.
  virtual EmitResult EmitTo(uint32_t stream, int32_t task, std::span<const FieldView> values) = 0;
  // As Emit. By default nothing is tracked.
  virtual EmitResult EmitWith(uint32_t stream, std::span<const FieldView> values,
                              const EmitOptions&) {
    return Emit(stream, values);
  }
  // An emit that an Output refused, to be counted. The engine logs the first few with component and
  // stream.
  virtual void Refused(uint32_t stream, EmitResult why) = 0;
};

// The emitter of the task whose thread this is; set by the engine, nullptr elsewhere.
inline thread_local Emitter* current_emitter = nullptr;

// `stream` of Refused for an Output that no context made.
inline constexpr uint32_t kNoStream = UINT32_MAX;

// An emit on an Output that no context made: counted and shown like every other refusal.
inline EmitResult EmitNowhere() {
  if (current_emitter != nullptr) current_emitter->Refused(kNoStream, EmitResult::kUnknownStream);
  return EmitResult::kUnknownStream;
}

}  // namespace internal
}  // namespace heron
