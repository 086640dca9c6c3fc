#include "heron/topology_master/core/stored_nodes.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace heron::topology_master {

void StoredNodes::ForgetRequests() {
  for (Slot& s : slots_) {
    s.read_request = s.write_request = 0;
    s.written.clear();
  }
}

void StoredNodes::ReadAll(MonotonicTime now) {
  ForgetRequests();
  phase_ = Phase::kReading;
  due_ = now + kReadTimeout;
  for (Node node : kAllNodes) slot(node).read_request = NewRequest();
  for (Node node : kAllNodes) effects_->ReadNode(node, slot(node).read_request);
}

void StoredNodes::ReadAllLater(MonotonicTime now) {
  ForgetRequests();
  phase_ = Phase::kPausing;
  due_ = now + retry_delay_;
  retry_delay_ = std::min(2 * retry_delay_, kMaxRetryDelay);
}

void StoredNodes::Stop() {
  ForgetRequests();
  phase_ = Phase::kStopped;
}

void StoredNodes::Write(Node node, std::string value) {
  Slot& s = slot(node);
  DCHECK(CanWrite(node));
  s.write_request = NewRequest();
  s.written = value;
  std::optional<int64_t> expected;
  if (s.value) expected = s.value->version;
  effects_->WriteNode(node, s.write_request, std::move(value), expected);
}

bool StoredNodes::OnRead(MonotonicTime now, uint64_t request, Result<StoredValue> result) {
  if (phase_ != Phase::kReading || request == 0) return false;
  auto s = std::find_if(slots_.begin(), slots_.end(), [request](const Slot& candidate) {
    return candidate.read_request == request;
  });
  if (s == slots_.end()) return false;
  if (result.ok()) {
    s->value = std::move(result).value();
  } else if (result.status().code() == StatusCode::kNotFound) {
    s->value.reset();
  } else {
    LOG(WARNING) << "cannot read the state store, trying again: " << result.status().ToString();
    ReadAllLater(now);
    return false;
  }
  s->read_request = 0;
  for (const Slot& other : slots_) {
    if (other.read_request != 0) return false;
  }
  phase_ = Phase::kComplete;
  return true;
}

std::optional<Node> StoredNodes::OnWritten(MonotonicTime now, uint64_t request,
                                           const Result<int64_t>& result) {
  if (request == 0) return std::nullopt;
  for (Node node : kAllNodes) {
    Slot& s = slot(node);
    if (s.write_request != request) continue;
    if (!result.ok()) {
      LOG(WARNING) << "a write to the state store did not succeed, reading again: "
                   << result.status().ToString();
      ReadAllLater(now);
      return std::nullopt;
    }
    s.write_request = 0;
    s.value = StoredValue{std::move(s.written), *result};
    s.written.clear();
    retry_delay_ = kFirstRetryDelay;
    return node;
  }
  return std::nullopt;
}

void StoredNodes::OnTick(MonotonicTime now) {
  if (phase_ == Phase::kPausing && now >= due_) {
    ReadAll(now);
  } else if (phase_ == Phase::kReading && now >= due_) {
    LOG(WARNING) << "the state store does not answer, reading again";
    ReadAll(now);
  }
}

}  // namespace heron::topology_master
