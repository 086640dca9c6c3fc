// Status and Result<T>: how everything from the outside world (bytes of a peer, the disk, configuration, user
// topologies) reports failure. Bugs are CHECKs instead.
#pragma once

#include <glog/logging.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heron {

enum class StatusCode {
  kOk = 0,
  kInvalidArgument,    // the caller's input is wrong; the message names it and the remedy
  kNotFound,
  kAlreadyExists,
  kVersionMismatch,    // a conditional write lost
  kFailedPrecondition, // right input, wrong moment
  kUnavailable,        // try again later
  kDeadlineExceeded,
  kPermissionDenied,
  kOutOfSpace,
  kDataLoss,           // damaged bytes
  kInternal,
  kFenced,             // a newer incarnation took over
};

std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return Status(); }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same status with "context: " before its message. Each layer adds context once.
  Status WithContext(std::string_view context) const;

  // "not found: /a/b: no such node"; "ok".
  std::string ToString() const;

  // For the rare place where failure is of no interest; says so to the reader.
  void IgnoreError() const {}

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

Status InvalidArgument(std::string message);
Status NotFound(std::string message);
Status AlreadyExists(std::string message);
Status VersionMismatch(std::string message);
Status FailedPrecondition(std::string message);
Status Unavailable(std::string message);
Status DeadlineExceeded(std::string message);
Status DataLoss(std::string message);
Status Internal(std::string message);

// From errno: permission, space and absence map to their codes. "what: No such file or directory".
Status ErrnoStatus(int error, std::string_view what);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    CHECK(!status_.ok()) << "a Result without a value needs an error";
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // Only when ok().
  const T& value() const& {
    DCHECK(ok()) << status_.ToString();
    return *value_;
  }
  T& value() & {
    DCHECK(ok()) << status_.ToString();
    return *value_;
  }
  T&& value() && {
    DCHECK(ok()) << status_.ToString();
    return std::move(*value_);
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

#define HERON_RETURN_IF_ERROR(expr)                 \
  do {                                              \
    ::heron::Status heron_status_ = (expr);         \
    if (!heron_status_.ok()) return heron_status_;  \
  } while (false)

}  // namespace heron
