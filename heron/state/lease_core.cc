#include "heron/state/lease_core.h"

#include <algorithm>
#include <utility>

namespace heron::state {

LeaseCore::LeaseCore(Options options)
    : options_(std::move(options)), margin_(options_.lease / 8), poll_(options_.lease / 10) {}

bool LeaseCore::Held(MonotonicTime now) {
  if (held_ && now >= valid_until_) {
    held_ = false;
    know_ = false;  // whatever happened meanwhile: read first
    next_read_ = now;
  }
  return held_;
}

LeaseCore::Step LeaseCore::Next(MonotonicTime now) {
  Held(now);
  if (held_) {
    if (!fate_unknown_ && now >= next_renewal_) return Write(now, Writing::kRenewal);
    if (fate_unknown_ && now >= next_read_) return Step{.what = Do::kRead};
    return Step{.what = Do::kWait,
                .wait_until = std::min(valid_until_, fate_unknown_ ? next_read_ : next_renewal_)};
  }
  if (!know_ || fate_unknown_ || now >= next_read_) {
    if (now >= next_read_) return Step{.what = Do::kRead};
    return Step{.what = Do::kWait, .wait_until = next_read_};
  }
  bool own = record_ && record_->holder() == options_.holder;
  if (!record_ || record_->released() || own || now - unchanged_since_ >= options_.lease) {
    return Write(now, Writing::kGain);
  }
  return Step{.what = Do::kWait,
              .wait_until = std::min(next_read_, unchanged_since_ + options_.lease)};
}

LeaseCore::Step LeaseCore::Write(MonotonicTime now, Writing writing) {
  writing_ = writing;
  write_started_ = now;
  written_.Clear();
  written_.set_holder(options_.holder);
  written_.set_epoch(writing == Writing::kGain ? highest_epoch_ + 1 : epoch_);
  written_.set_counter((record_ ? record_->counter() : 0) + 1);
  written_.set_payload(options_.payload);
  Step step;
  step.what = record_ ? Do::kSet : Do::kCreate;
  step.value = written_.SerializeAsString();
  step.expected_version = version_;
  return step;
}

void LeaseCore::Seen(MonotonicTime now, const proto::Lease& record, int64_t version) {
  // A reader that was away for long cannot tell a dead holder from a machine that stood still: it
  // starts to watch anew.
  bool was_away = now - last_read_ > options_.lease / 2;
  if (!record_ || !know_ || version != version_ || was_away) unchanged_since_ = now;
  record_ = record;
  version_ = version;
  know_ = true;
  last_read_ = now;
  next_read_ = now + poll_;
  highest_epoch_ = std::max(highest_epoch_, record.epoch());
}

void LeaseCore::Gained(MonotonicTime started, MonotonicTime now) {
  valid_until_ = started + options_.lease - margin_;
  next_renewal_ = started + options_.lease / 3;
  epoch_ = written_.epoch();
  highest_epoch_ = std::max(highest_epoch_, epoch_);
  held_ =
      now <
      valid_until_;  // otherwise it came too late: the record is ours, and the next step gains anew
}

void LeaseCore::OnRead(MonotonicTime now, const Result<std::string>& value, int64_t version) {
  bool still = Held(now);
  Writing writing = fate_unknown_ ? writing_ : Writing::kNothing;
  if (!value.ok() && value.status().code() != StatusCode::kNotFound) {
    if (!still) know_ = false;
    next_read_ = now + poll_;
    return;
  }
  fate_unknown_ = false;
  if (!value.ok()) {
    held_ = false;
    record_.reset();
    version_ = 0;
    know_ = true;
    last_read_ = now;
    next_read_ = now + poll_;
    return;
  }
  proto::Lease record;
  if (!record.ParseFromString(*value)) {
    // Its epoch is not known, so no higher one is. Somebody has to delete the node.
    held_ = false;
    know_ = false;
    next_read_ = now + options_.lease;
    return;
  }
  // Counted from the end of the read: the renewal that it shows may have started as late as that.
  Seen(now, record, version);
  bool mine = record.holder() == options_.holder;
  if (writing != Writing::kNothing && mine && record.epoch() == written_.epoch() &&
      record.counter() == written_.counter()) {
    // The answer was lost, the write was not.
    if (writing == Writing::kGain || still) Gained(write_started_, now);
    return;
  }
  if (still && !(mine && record.epoch() == epoch_)) held_ = false;
}

void LeaseCore::OnWritten(MonotonicTime started, MonotonicTime now,
                          const Result<int64_t>& version) {
  bool still = Held(now);
  Writing writing = writing_;
  write_started_ = started;
  if (version.ok()) {
    record_ = written_;
    version_ = *version;
    know_ = true;
    last_read_ = now;
    unchanged_since_ = now;
    // A renewal that arrived too late renews nothing: the holder has counted itself out and gains
    // with a new epoch.
    if (writing == Writing::kGain || still) {
      Gained(started, now);
    } else {
      highest_epoch_ = std::max(highest_epoch_, written_.epoch());
      next_read_ = now;
    }
    return;
  }
  // A mismatch too may be the echo of a write whose first answer was lost: read what is there.
  fate_unknown_ = true;
  bool lost_race = version.status().code() == StatusCode::kVersionMismatch ||
                   version.status().code() == StatusCode::kAlreadyExists ||
                   version.status().code() == StatusCode::kNotFound;
  next_read_ = lost_race ? now : now + poll_;
}

void LeaseCore::SetPayload(std::string payload) {
  options_.payload = std::move(payload);
  if (held_) next_renewal_ = MonotonicTime{};
}

LeaseCore::Step LeaseCore::Release(MonotonicTime now) {
  if (!Held(now) || fate_unknown_) return Step{};
  Step step = Write(now, Writing::kRenewal);
  written_.set_released(true);
  step.value = written_.SerializeAsString();
  held_ = false;
  return step;
}

}  // namespace heron::state
