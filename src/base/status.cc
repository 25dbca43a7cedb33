#include "base/status.h"

namespace kafscope {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid_argument";
    case StatusCode::kNotFound: return "not_found";
    case StatusCode::kUnavailable: return "unavailable";
    case StatusCode::kUnauthenticated: return "unauthenticated";
    case StatusCode::kPermissionDenied: return "permission_denied";
    case StatusCode::kUnsupported: return "unsupported";
    case StatusCode::kResourceExhausted: return "resource_exhausted";
    case StatusCode::kDataLoss: return "data_loss";
    case StatusCode::kDeadlineExceeded: return "deadline_exceeded";
    case StatusCode::kCancelled: return "cancelled";
    case StatusCode::kInternal: return "internal";
  }
  return "internal";
}

Status::Status(StatusCode code, std::string message)
    : state_(code == StatusCode::kOk ? nullptr : std::make_shared<const State>(State{code, std::move(message)})) {}

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text(StatusCodeName(code()));
  text.append(": ").append(message());
  return text;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return {};
  std::string text(context);
  text.append(": ").append(message());
  return {code(), std::move(text)};
}

}  // namespace kafscope
