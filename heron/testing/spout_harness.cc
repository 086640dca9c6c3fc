#include "heron/testing/spout_harness.h"

#include <stdexcept>

#include "heron/api/internal/builder_access.h"

namespace heron::testing {

SpoutHarness::SpoutHarness(std::unique_ptr<Spout> spout, HarnessOptions options)
    : TaskHarness(std::move(options)), spout_(std::move(spout)) {}

SpoutHarness::SpoutHarness(const TopologyBuilder& builder, const std::string& component,
                           HarnessOptions options)
    : TaskHarness(builder, component, std::move(options)),
      spout_(heron::internal::BuilderAccess::MakeSpout(builder, component)) {
  if (spout_ == nullptr) {
    throw std::invalid_argument("component '" + component +
                                "' is no spout, or its factory gave none");
  }
}

SpoutHarness::~SpoutHarness() {
  CloseCalls();
  InTask([this] { spout_.reset(); });
}

void SpoutHarness::Open() {
  if (context_ != nullptr) return;
  context_ = std::make_unique<SpoutContext>(facts(), runtime());
  InTask([this] { spout_->Open(*context_); });
  Activate();
}

void SpoutHarness::Begin(const char* call) {
  if (closed_) throw std::logic_error(std::string(call) + " after the end of the spout");
  Open();
  RunCalls();
}

Next SpoutHarness::NextTuple() {
  Begin("NextTuple");
  if (ended_) throw std::logic_error("NextTuple of a spout that said Ended is never called again");
  if (!active_) throw std::logic_error("NextTuple of a deactivated spout is not called");
  TakeWoken();
  const Next next = InTask([this] { return spout_->NextTuple(); });
  ended_ = next.kind() == Next::Kind::kEnded;
  waiting_ = next.kind() == Next::Kind::kWaiting;
  RunCalls();
  return next;
}

size_t SpoutHarness::NextTuples(size_t tuples) {
  const size_t before = emissions().size();
  size_t seen = before;
  int empty_calls = 0;
  Begin("NextTuple");
  while (!ended_ && emissions().size() - before < tuples && empty_calls < kMaxEmptyCalls) {
    if (waiting_ && !TakeWoken()) break;
    NextTuple();
    empty_calls = emissions().size() > seen ? 0 : empty_calls + 1;
    seen = emissions().size();
  }
  return emissions().size() - before;
}

void SpoutHarness::Ack(const MessageId& id) {
  Begin("Ack");
  InTask([&] { spout_->Ack(id); });
}

void SpoutHarness::Fail(const MessageId& id, FailReason reason) {
  Begin("Fail");
  InTask([&] { spout_->Fail(id, reason); });
  ended_ = false;
}

void SpoutHarness::Activate() {
  Open();
  if (active_) return;
  active_ = true;
  InTask([this] { spout_->Activate(); });
}

void SpoutHarness::Deactivate() {
  Begin("Deactivate");
  if (!active_) return;
  active_ = false;
  InTask([this] { spout_->Deactivate(); });
}

void SpoutHarness::Close() {
  Begin("Close");
  closed_ = true;
  CloseCalls();
  InTask([this] { spout_->Close(); });
}

}  // namespace heron::testing
