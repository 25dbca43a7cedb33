#include "source/position.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;

TEST(StartPosition, ReadsEveryForm) {
  using Kind = StartPosition::Kind;
  const std::pair<const char*, StartPosition> cases[] = {
      {"latest", {Kind::kLatest, 0}},
      {"earliest", {Kind::kEarliest, 0}},
      {"last:50", {Kind::kLastN, 50}},
      {"last:0", {Kind::kLastN, 0}},
      {"offset:9223372036854775807", {Kind::kOffset, INT64_MAX}},
      {"time:1700000000123", {Kind::kTime, 1'700'000'000'123}},
      {"time:2023-11-14T22:13:20Z", {Kind::kTime, kNow}},
      {"time:2023-11-14T22:13:20.0019Z", {Kind::kTime, kNow + 1}},
      {"time:2023-11-15T00:13:20+02:00", {Kind::kTime, kNow}},
      {"time:-15m", {Kind::kTime, kNow - 900'000}},
      {"time:-250ms", {Kind::kTime, kNow - 250}},
      {"time:-2d", {Kind::kTime, kNow - 172'800'000}},
      {"time:now", {Kind::kTime, kNow}},
  };
  for (const auto& [text, want] : cases) {
    const Result<StartPosition> got = StartPosition::Parse(text, kNow);
    ASSERT_TRUE(got) << text << ": " << got.error().ToString();
    EXPECT_EQ(*got, want) << text;
    EXPECT_EQ(*StartPosition::Parse(got->ToString(), 0), want) << text;
  }
}

TEST(StartPosition, RefusesTheRestAndRepeatsIt) {
  for (const char* text : {"", "newest", "last:", "last:-1", "last:ten", "last:1x", "offset:99999999999999999999",
                           "time:", "time:-15", "time:-m", "time:2023-11-14", "time:-99999999999d", "LATEST"}) {
    const Result<StartPosition> got = StartPosition::Parse(text, kNow);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(got.error().message().find('\''), std::string::npos);
  }
}

TEST(EndPosition, ReadsEveryForm) {
  using Kind = EndPosition::Kind;
  const std::pair<const char*, EndPosition> cases[] = {
      {"never", {Kind::kNever, 0}},
      {"end", {Kind::kEnd, 0}},
      {"count:7", {Kind::kCount, 7}},
      {"time:-1h", {Kind::kTime, kNow - 3'600'000}},
  };
  for (const auto& [text, want] : cases) {
    const Result<EndPosition> got = EndPosition::Parse(text, kNow);
    ASSERT_TRUE(got) << text;
    EXPECT_EQ(*got, want) << text;
    EXPECT_EQ(*EndPosition::Parse(got->ToString(), 0), want) << text;
  }
  for (const char* text : {"", "latest", "count:", "count:-1", "last:5", "time:x"}) {
    EXPECT_FALSE(EndPosition::Parse(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace kafscope
