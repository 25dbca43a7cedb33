// Status and Result<T>: an expected failure, off the hot path.
//
// Use: fallible functions return Status, or Result<T> when they also give a value. Nothing is thrown; exceptions of
// third-party libraries are caught at the border and become a Status. A message names the option to change.
// Cost: an OK Status is one null pointer; a failed one allocates.
// Threads: values; const calls may race with each other, a non-const call needs outside locking.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace kafscope {

enum class StatusCode {
  kOk,
  kInvalidArgument,    // the caller's words are wrong: exit code 2
  kNotFound,           // topic, file, schema
  kUnavailable,        // broker or registry cannot be reached; may pass
  kUnauthenticated,    // wrong user or password
  kPermissionDenied,   // known user, no right
  kUnsupported,        // right request that this side cannot do
  kResourceExhausted,  // a limit of ours
  kDataLoss,           // bytes that contradict themselves
  kDeadlineExceeded,
  kCancelled,
  kInternal,
};

// The code in lower case with underscores, for JSON and metrics labels.
std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message);

  static Status Ok() { return {}; }
  static Status InvalidArgument(std::string m) { return {StatusCode::kInvalidArgument, std::move(m)}; }
  static Status NotFound(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
  static Status Unavailable(std::string m) { return {StatusCode::kUnavailable, std::move(m)}; }
  static Status Unauthenticated(std::string m) { return {StatusCode::kUnauthenticated, std::move(m)}; }
  static Status PermissionDenied(std::string m) { return {StatusCode::kPermissionDenied, std::move(m)}; }
  static Status Unsupported(std::string m) { return {StatusCode::kUnsupported, std::move(m)}; }
  static Status ResourceExhausted(std::string m) { return {StatusCode::kResourceExhausted, std::move(m)}; }
  static Status DataLoss(std::string m) { return {StatusCode::kDataLoss, std::move(m)}; }
  static Status DeadlineExceeded(std::string m) { return {StatusCode::kDeadlineExceeded, std::move(m)}; }
  static Status Cancelled(std::string m) { return {StatusCode::kCancelled, std::move(m)}; }
  static Status Internal(std::string m) { return {StatusCode::kInternal, std::move(m)}; }

  bool ok() const { return state_ == nullptr; }
  StatusCode code() const { return state_ == nullptr ? StatusCode::kOk : state_->code; }
  std::string_view message() const { return state_ == nullptr ? std::string_view() : state_->message; }
  // "not_found: topic 'x' does not exist", for logs and terminals.
  std::string ToString() const;
  // The same failure with `context: ` before its message; OK stays OK.
  Status WithContext(std::string_view context) const;

  friend bool operator==(const Status& a, const Status& b) {
    return a.code() == b.code() && a.message() == b.message();
  }

 private:
  struct State {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const State> state_;  // null: OK
};

template <typename T>
using Result = tl::expected<T, Status>;

// Makes a failed Result<T> of a Status: `return Fail(Status::NotFound("…"));`
inline tl::unexpected<Status> Fail(Status status) { return tl::unexpected<Status>(std::move(status)); }

}  // namespace kafscope

#define KAFSCOPE_CONCAT_INNER(a, b) a##b
#define KAFSCOPE_CONCAT(a, b) KAFSCOPE_CONCAT_INNER(a, b)

// Leaves the calling function (that returns Status) when `expression` failed.
#define KAFSCOPE_RETURN_IF_ERROR(expression)                                      \
  do {                                                                            \
    if (::kafscope::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

// The same in a function that returns Result<T>.
#define KAFSCOPE_FAIL_IF_ERROR(expression)                                                                     \
  do {                                                                                                         \
    if (::kafscope::Status status_ = (expression); !status_.ok()) return ::kafscope::Fail(std::move(status_)); \
  } while (false)

// `KAFSCOPE_ASSIGN_OR_FAIL(auto x, MakeX());` in a function that returns Result<T>.
#define KAFSCOPE_ASSIGN_OR_FAIL(declaration, expression) \
  KAFSCOPE_ASSIGN_OR_FAIL_IMPL(KAFSCOPE_CONCAT(result_, __LINE__), declaration, expression)
#define KAFSCOPE_ASSIGN_OR_FAIL_IMPL(result, declaration, expression) \
  auto result = (expression);                                         \
  if (!result) return ::kafscope::Fail(std::move(result).error());    \
  declaration = *std::move(result)
