// Brings what other threads have to the task: a client library's callbacks, a pool's results.
//
//   void Prepare(heron::BoltContext& context) override {
//     out_ = context.Output<std::string>("answer");
//     client_.OnAnswer([this, task = context.TaskRunner()](std::string answer) {
//       task.Run([this, answer] { out_.Emit(answer); });   // on the task thread, where Emit
//       belongs
//     });
//   }
//
// Functions run one after the other in the order in which Run was called, between two tuples or
// while there are none, never before Open or Prepare has returned, also while the topology is
// deactivated. What they throw counts as thrown by Execute or NextTuple. After a function has run,
// a spout that waits or idles is asked for its next tuple.
//
// The end. Of a bolt: what was given before Finish begins runs before it; what comes while Finish
// runs, from threads that it waits for say, runs right behind it; then the runner is closed, before
// Cleanup. Of a spout: it is closed when NextTuple has said Ended and what was given before has
// run, before Close. A bolt does not know that something is still under way: who must not lose it
// waits for it in Finish. When the process is told to stop, or the task fails, what has not run is
// dropped. A closed runner returns false.
//
// Copies are cheap and may outlive the task. Thread: any.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "heron/api/internal/task_runtime.h"

namespace heron {

class TaskRunner {
 public:
  static constexpr size_t kMaxWaiting = 1024;  // functions

  explicit TaskRunner(std::shared_ptr<internal::CallTarget> target) : target_(std::move(target)) {}

  // Runs `function` soon on the task thread. While kMaxWaiting functions wait it blocks. False, and
  // the function is dropped, if the task has ended; and if there is no room and waiting for it
  // would never end: on the task thread itself, and while Finish runs. The task thread must not
  // wait for a thread that may block here, except in Finish, Close and Cleanup.
  template <std::invocable Function>
  bool Run(Function function) const {
    return Post(std::move(function), true);
  }
  // The same, but false instead of waiting.
  template <std::invocable Function>
  bool TryRun(Function function) const {
    return Post(std::move(function), false);
  }

 private:
  template <typename Function>
  class CallOf : public internal::Call {
   public:
    explicit CallOf(Function function) : function_(std::move(function)) {}
    void Run() override { function_(); }

   private:
    Function function_;
  };

  template <typename Function>
  bool Post(Function function, bool wait) const {
    return target_->Post(std::make_unique<CallOf<Function>>(std::move(function)), wait);
  }

  std::shared_ptr<internal::CallTarget> target_;
};

}  // namespace heron
