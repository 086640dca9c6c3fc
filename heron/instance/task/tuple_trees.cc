#include "heron/instance/task/tuple_trees.h"

#include <algorithm>
#include <utility>

namespace heron::instance {

using heron::internal::EmitOptions;
using heron::internal::Held;
using model::Anchor;

class TupleTrees::HeldInput : public Held {
 public:
  HeldInput(Input input, std::shared_ptr<TupleTrees*> trees)
      : input_(std::move(input)), trees_(std::move(trees)) {}
  ~HeldInput() override {
    if (settled_ || *trees_ == nullptr) return;
    --(*trees_)->held_count_;
    ++(*trees_)->misuse_.forgotten;
    (*trees_)->Settle(input_, false);
  }

  bool Settle(bool acked) override {
    if (*trees_ == nullptr) return false;
    if (std::exchange(settled_, true)) {
      ++(*trees_)->misuse_.settled_twice;
      return false;
    }
    --(*trees_)->held_count_;
    (*trees_)->Settle(input_, acked);
    return true;
  }

  bool settled() const { return settled_; }
  Input& input() { return input_; }

 private:
  Input input_;
  bool settled_ = false;
  const std::shared_ptr<TupleTrees*> trees_;
};

TupleTrees::TupleTrees(const Options& options, BatchWriter* writer)
    : writer_(writer),
      acks_(options.task),
      roots_(options.timeout),
      task_(options.task),
      life_(model::LifeTag(options.epoch)),
      self_(std::make_shared<TupleTrees*>(this)) {}

TupleTrees::~TupleTrees() { *self_ = nullptr; }

// ---- The tuple that is executed.

void TupleTrees::BeginInput(const std::vector<Anchor>& anchors) {
  own_.anchors.assign(anchors.begin(), anchors.end());
  own_.children = 0;
  current_ = &own_;
  failed_ = false;
}

void TupleTrees::EndInput() {
  current_ = nullptr;
  if (held_ == nullptr) {
    Settle(own_, !failed_);
    return;
  }
  const std::shared_ptr<HeldInput> held = std::move(held_);
  held_ = nullptr;
  if (failed_ && !held->settled()) held->Settle(false);
}

std::shared_ptr<Held> TupleTrees::Hold() {
  if (current_ == nullptr) return nullptr;
  if (held_ == nullptr) {
    held_ = std::make_shared<HeldInput>(std::move(own_), self_);
    ++held_count_;
    own_ = Input();
    current_ = &held_->input();
  }
  return held_;
}

void TupleTrees::Settle(const Input& input, bool acked) {
  for (const Anchor& anchor : input.anchors) {
    if (acked) {
      acks_.Add(anchor.root, anchor.edge ^ input.children);
    } else {
      acks_.Fail(anchor.root);
    }
  }
}

// ---- Emits.

bool TupleTrees::Gather(const EmitOptions& options) {
  inputs_.clear();
  if (options.unanchored) return true;
  if (!options.has_anchors) {
    if (current_ != nullptr && !(held_ != nullptr && held_->settled())) inputs_.push_back(current_);
  } else {
    for (const std::shared_ptr<Held>& anchor : options.anchors) {
      // Held tuples of this task are all there are on its thread.
      HeldInput& held = static_cast<HeldInput&>(*anchor);
      if (held.settled()) {
        ++misuse_.anchored_to_settled;
      } else if (std::find(inputs_.begin(), inputs_.end(), &held.input()) == inputs_.end()) {
        inputs_.push_back(&held.input());
      }
    }
  }
  std::erase_if(inputs_, [](const Input* input) { return input->anchors.empty(); });
  if (inputs_.empty()) return true;
  if (inputs_.size() == 1 && inputs_[0]->anchors.size() == 1) {
    kind_ = Kind::kOneAnchor;
    root_ = inputs_[0]->anchors[0].root;
    return true;
  }
  kind_ = Kind::kSeveral;
  merged_.clear();
  for (const Input* input : inputs_) {
    for (const Anchor& anchor : input->anchors) {
      const auto same = [&](const Anchor& known) { return known.root == anchor.root; };
      if (std::find_if(merged_.begin(), merged_.end(), same) != merged_.end()) continue;
      if (merged_.size() == model::kMaxAnchors) return false;
      merged_.push_back({.root = anchor.root});
    }
  }
  return true;
}

bool TupleTrees::BeginEmit(const EmitOptions& options, MonotonicTime now) {
  kind_ = Kind::kNone;
  if (options.id == nullptr) return Gather(options);
  kind_ = Kind::kRoot;
  root_ = {.task = task_, .life = life_, .sequence = roots_.Begin(*options.id, now)};
  return true;
}

size_t TupleTrees::AnchorRoom() const {
  return kind_ == Kind::kSeveral
             ? model::kMaxAnchorBytes / model::kMaxAnchors * (merged_.size() + 1)
             : model::kMaxOneAnchorBytes;
}

size_t TupleTrees::WriteAnchors(char* out) {
  model::AnchorContext& context = writer_->anchor_context();
  switch (kind_) {
    case Kind::kNone:
      return model::EncodeAnchors({}, context, out);
    case Kind::kRoot:
      roots_.AddEdge(writer_->edge());
      break;
    case Kind::kOneAnchor:
      inputs_[0]->children ^= writer_->edge();
      break;
    case Kind::kSeveral:
      return WriteSeveral(out);
  }
  const Anchor anchor{.root = root_};
  return model::EncodeAnchors({&anchor, 1}, context, out);
}

// One fresh edge for each input; a root gets those of all inputs that belong to it.
size_t TupleTrees::WriteSeveral(char* out) {
  for (Anchor& anchor : merged_) anchor.edge = 0;
  uint64_t all = 0;
  for (Input* input : inputs_) {
    uint64_t edge = writer_->FreshEdge();
    // The edge of a tuple with one root is not written: they must add up to it.
    if (merged_.size() == 1 && input == inputs_.back()) edge = all ^ writer_->edge();
    all ^= edge;
    input->children ^= edge;
    for (const Anchor& anchor : input->anchors) {
      const auto same = [&](const Anchor& known) { return known.root == anchor.root; };
      std::find_if(merged_.begin(), merged_.end(), same)->edge ^= edge;
    }
  }
  return model::EncodeAnchors(merged_, writer_->anchor_context(), out);
}

void TupleTrees::EndEmit() {
  if (kind_ == Kind::kRoot) roots_.End();
  kind_ = Kind::kNone;
}

void TupleTrees::EmitImpossible(const EmitOptions& options, MonotonicTime now) {
  if (options.id != nullptr) {
    roots_.Begin(*options.id, now);
    roots_.EndFailed();
    return;
  }
  if (options.unanchored) return;
  if (!options.has_anchors) {
    failed_ = current_ != nullptr;
    return;
  }
  for (const std::shared_ptr<Held>& anchor : options.anchors) {
    if (!static_cast<HeldInput&>(*anchor).settled()) anchor->Settle(false);
  }
}

// ---- Of a spout.

void TupleTrees::Fold(const model::AckView& acks, MonotonicTime now) {
  if (acks.header.destination_task != task_ || acks.header.life != life_) return;
  roots_.SetNow(now);
  for (size_t i = 0; i < acks.update_count(); ++i) {
    const model::AckUpdate update = acks.update(i);
    roots_.Update(update.sequence, update.edges);
  }
  for (size_t i = 0; i < acks.failure_count(); ++i) roots_.Fail(acks.failure(i));
}

}  // namespace heron::instance
