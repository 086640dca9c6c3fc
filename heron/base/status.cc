#include "heron/base/status.h"

#include <cerrno>
#include <system_error>

namespace heron {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kAlreadyExists:
      return "already exists";
    case StatusCode::kVersionMismatch:
      return "version mismatch";
    case StatusCode::kFailedPrecondition:
      return "failed precondition";
    case StatusCode::kUnavailable:
      return "unavailable";
    case StatusCode::kDeadlineExceeded:
      return "deadline exceeded";
    case StatusCode::kPermissionDenied:
      return "permission denied";
    case StatusCode::kOutOfSpace:
      return "out of space";
    case StatusCode::kDataLoss:
      return "damaged data";
    case StatusCode::kInternal:
      return "internal error";
    case StatusCode::kFenced:
      return "fenced";
  }
  return "unknown";
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, std::string(context) + ": " + message_);
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return std::string(StatusCodeName(code_)) + ": " + message_;
}

Status InvalidArgument(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message));
}
Status NotFound(std::string message) { return Status(StatusCode::kNotFound, std::move(message)); }
Status AlreadyExists(std::string message) {
  return Status(StatusCode::kAlreadyExists, std::move(message));
}
Status VersionMismatch(std::string message) {
  return Status(StatusCode::kVersionMismatch, std::move(message));
}
Status FailedPrecondition(std::string message) {
  return Status(StatusCode::kFailedPrecondition, std::move(message));
}
Status Unavailable(std::string message) {
  return Status(StatusCode::kUnavailable, std::move(message));
}
Status DeadlineExceeded(std::string message) {
  return Status(StatusCode::kDeadlineExceeded, std::move(message));
}
Status DataLoss(std::string message) { return Status(StatusCode::kDataLoss, std::move(message)); }
Status Internal(std::string message) { return Status(StatusCode::kInternal, std::move(message)); }

Status ErrnoStatus(int error, std::string_view what) {
  std::string message = std::string(what) + ": " + std::generic_category().message(error);
  switch (error) {
    case ENOENT:
      return Status(StatusCode::kNotFound, std::move(message));
    case EEXIST:
      return Status(StatusCode::kAlreadyExists, std::move(message));
    case EACCES:
    case EPERM:
    case EROFS:
      return Status(StatusCode::kPermissionDenied, std::move(message));
    case ENOSPC:
    case EDQUOT:
      return Status(StatusCode::kOutOfSpace, std::move(message));
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNRESET:
      return Status(StatusCode::kUnavailable, std::move(message));
    default:
      return Status(StatusCode::kInternal, std::move(message));
  }
}

}  // namespace heron
