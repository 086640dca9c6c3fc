#include "heron/testing/bolt_harness.h"

#include <stdexcept>

#include "heron/api/internal/builder_access.h"
#include "heron/api/internal/tuple_reader.h"
#include "heron/model/tuple_codec.h"
#include "proto/topology.pb.h"

namespace heron::testing {
namespace {

using heron::internal::BuilderAccess;

std::vector<TupleSource> InputsOf(const proto::Topology& topology, const std::string& component) {
  std::vector<TupleSource> inputs;
  for (const proto::Component& reader : topology.components()) {
    if (reader.name() != component) continue;
    for (const proto::InputStream& input : reader.inputs()) {
      TupleSource source;
      source.component = input.component();
      source.stream = input.stream();
      for (const proto::Component& each : topology.components()) {
        if (each.name() != input.component()) continue;
        for (const proto::OutputStream& output : each.outputs()) {
          if (output.name() != input.stream()) continue;
          for (const proto::Field& field : output.fields()) source.fields.push_back(field.name());
        }
      }
      inputs.push_back(std::move(source));
    }
  }
  return inputs;
}

}  // namespace

BoltHarness::BoltHarness(std::unique_ptr<Bolt> bolt, HarnessOptions options)
    : TaskHarness(std::move(options)), bolt_(std::move(bolt)) {}

BoltHarness::BoltHarness(const TopologyBuilder& builder, const std::string& component,
                         HarnessOptions options)
    : TaskHarness(builder, component, std::move(options)),
      bolt_(BuilderAccess::MakeBolt(builder, component)),
      inputs_(InputsOf(BuilderAccess::Definition(builder), component)) {
  if (bolt_ == nullptr) {
    throw std::invalid_argument("component '" + component +
                                "' is no bolt, or its factory gave none");
  }
  if (inputs_.size() == 1) input_ = inputs_.front();
}

BoltHarness::~BoltHarness() {
  CloseCalls();
  InTask([this] { bolt_.reset(); });
}

void BoltHarness::Prepare() {
  if (context_ != nullptr) return;
  context_ = std::make_unique<BoltContext>(facts(), runtime());
  InTask([this] { bolt_->Prepare(*context_); });
}

void BoltHarness::Begin(const char* call) {
  if (ended_) throw std::logic_error(std::string(call) + " after the end of the bolt");
  Prepare();
  RunCalls();
}

void BoltHarness::ExecuteValues(const TupleSource& source, const Values& values) {
  Begin("Execute");
  heron::internal::TupleOrigin origin{source.component, source.stream, source.fields,
                                      facts().component};
  bool known = inputs_.empty();
  for (const TupleSource& input : inputs_) {
    if (input.component != source.component || input.stream != source.stream) continue;
    origin.fields = input.fields;
    known = true;
  }
  if (!known) {
    throw std::invalid_argument("bolt '" + facts().component + "' does not read stream '" +
                                source.stream + "' of '" + source.component +
                                "'; with several inputs say which: ExecuteFrom");
  }
  // Through the bytes of a batch: what the bolt sees are views, as in a task.
  const heron::internal::ValueViews views(values);
  std::string bytes(model::EncodedTupleBytes(views.views()), '\0');
  if (bytes.empty()) throw std::invalid_argument("these values fit into no tuple");
  model::EncodeTuple(views.views(), bytes.data());
  heron::internal::TupleReader reader;
  reader.Start(bytes, origin, source.task);
  const Tuple* tuple = reader.Next();
  if (tuple == nullptr) throw std::logic_error("the tuple's encoding is damaged");
  InTask([&] { bolt_->Execute(*tuple); });
  RunCalls();
}

void BoltHarness::Tick(std::chrono::nanoseconds since_previous) {
  Begin("Tick");
  InTask([&] { bolt_->Tick({.number = ++ticks_, .since_previous = since_previous}); });
  RunCalls();
}

void BoltHarness::Finish() {
  Begin("Finish");
  ended_ = true;
  InTask([this] { bolt_->Finish(); });
  RunCalls();
  CloseCalls();
  InTask([this] { bolt_->Cleanup(); });
}

void BoltHarness::Cleanup() {
  Begin("Cleanup");
  ended_ = true;
  CloseCalls();
  InTask([this] { bolt_->Cleanup(); });
}

}  // namespace heron::testing
