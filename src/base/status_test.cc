#include "base/status.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Fail(Status::InvalidArgument("odd"));
  return n / 2;
}

Result<int> Quarter(int n) {
  KAFSCOPE_ASSIGN_OR_FAIL(int half, Half(n));
  return Half(half);
}

TEST(Status, OkIsFreeAndEqual) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status(), Status::Ok());
  EXPECT_EQ(Status(StatusCode::kOk, "ignored").ToString(), "ok");
  EXPECT_TRUE(Status().WithContext("x").ok());
}

TEST(Status, KeepsCodeAndMessage) {
  const Status status = Status::NotFound("topic 'x' does not exist").WithContext("tail");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.ToString(), "not_found: tail: topic 'x' does not exist");
}

TEST(Status, ResultCarriesTheFirstFailure) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).error(), Status::InvalidArgument("odd"));
  EXPECT_EQ(Quarter(3).error(), Status::InvalidArgument("odd"));
}

}  // namespace
}  // namespace kafscope
