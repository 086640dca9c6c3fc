#include "heron/instance/core/end_of_stream.h"

#include <utility>

namespace heron::instance {

void EndOfStream::SetUpstream(const std::vector<TaskId>& tasks) {
  std::map<TaskId, Source> sources;
  ended_ = 0;
  for (TaskId task : tasks) {
    auto known = sources_.find(task);
    auto [it, added] = sources.emplace(task, known != sources_.end() ? known->second : Source());
    if (added && it->second.ended) ++ended_;
  }
  sources_ = std::move(sources);
}

void EndOfStream::OnBatch(TaskId source, Epoch epoch) {
  auto it = sources_.find(source);
  if (it == sources_.end() || epoch <= it->second.highest) return;
  it->second.highest = epoch;
  if (std::exchange(it->second.ended, false)) --ended_;
}

void EndOfStream::OnEnded(TaskId source, Epoch epoch) {
  auto it = sources_.find(source);
  if (it == sources_.end() || epoch < it->second.highest) return;
  it->second.highest = epoch;
  if (!std::exchange(it->second.ended, true)) ++ended_;
}

std::vector<TaskId> EndOfStream::Open(size_t most) const {
  std::vector<TaskId> open;
  for (const auto& [task, source] : sources_) {
    if (open.size() == most) break;
    if (!source.ended) open.push_back(task);
  }
  return open;
}

}  // namespace heron::instance
