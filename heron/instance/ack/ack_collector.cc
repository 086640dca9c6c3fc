#include "heron/instance/ack/ack_collector.h"

#include "heron/net/frame.h"
#include "proto/frame.pb.h"

namespace heron::instance {
namespace {

// Lives that are gone are of no use to anybody; so many are kept.
constexpr size_t kMostSpouts = 4096;

}  // namespace

AckCollector::Spout& AckCollector::Of(const model::RootId& root) {
  if (last_ != nullptr && last_->task == root.task && last_->life == root.life) return *last_;
  for (const auto& spout : spouts_) {
    if (spout->task == root.task && spout->life == root.life) {
      last_ = spout.get();
      return *last_;
    }
  }
  if (spouts_.size() >= kMostSpouts && dirty_.empty()) {
    spouts_.clear();
    last_ = nullptr;
  }
  spouts_.push_back(std::make_unique<Spout>());
  last_ = spouts_.back().get();
  last_->task = root.task;
  last_->life = root.life;
  last_->places.resize(kPlaces);
  return *last_;
}

void AckCollector::Add(const model::RootId& root, uint64_t edges) {
  Spout& spout = Of(root);
  uint16_t& place = spout.places[root.sequence & (kPlaces - 1)];
  if (place < spout.updates.size() && spout.updates[place].sequence == root.sequence) {
    spout.updates[place].edges ^= edges;
    return;
  }
  if (spout.updates.empty() && spout.failures.empty()) dirty_.push_back(&spout);
  place = static_cast<uint16_t>(spout.updates.size());
  spout.updates.push_back({.sequence = root.sequence, .edges = edges});
  if (spout.updates.size() >= kMostUpdates) full_ = true;
}

void AckCollector::Fail(const model::RootId& root) {
  Spout& spout = Of(root);
  if (spout.updates.empty() && spout.failures.empty()) dirty_.push_back(&spout);
  spout.failures.push_back(root.sequence);
  if (spout.failures.size() >= kMostUpdates) full_ = true;
}

void AckCollector::TakeFrames(std::vector<BufferSlice>& frames) {
  for (Spout* spout : dirty_) {
    const size_t room = net::kFrameHeaderBytes + model::kMaxAckHeaderBytes +
                        spout->updates.size() * sizeof(model::AckUpdate) +
                        spout->failures.size() * sizeof(uint64_t);
    std::shared_ptr<char[]> buffer(new char[room]);
    const size_t body = model::EncodeAckBatch(
        {.source_task = self_, .destination_task = spout->task, .life = spout->life},
        spout->updates, spout->failures, buffer.get() + net::kFrameHeaderBytes);
    net::EncodeFrameHeader({.body_bytes = static_cast<uint32_t>(body),
                            .type = static_cast<uint16_t>(proto::ACK_BATCH)},
                           buffer.get());
    const char* data = buffer.get();
    frames.emplace_back(std::move(buffer), data, net::kFrameHeaderBytes + body);
    spout->updates.clear();
    spout->failures.clear();
  }
  dirty_.clear();
  full_ = false;
}

}  // namespace heron::instance
