#include "base/parse.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

using std::chrono::nanoseconds;

TEST(ParseUnsigned, TakesDigitsWithinTheBounds) {
  EXPECT_EQ(ParseUnsigned("5", 1, 64), 5u);
  EXPECT_EQ(ParseUnsigned("18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  for (const char* text : {"", "0", "65", "-1", "+5", "5x", " 5", "1e1", "18446744073709551616"}) {
    EXPECT_FALSE(ParseUnsigned(text, 1, 64)) << text;
  }
  EXPECT_EQ(ParseUnsigned("abc", 1, 64).error().message(), "'abc' is not a whole number from 1 to 64");
}

TEST(ParseSize, KnowsItsUnits) {
  EXPECT_EQ(ParseSize("65536"), 65536u);
  EXPECT_EQ(ParseSize("64KiB"), 65536u);
  EXPECT_EQ(ParseSize("1.5MiB"), 1572864u);
  EXPECT_EQ(ParseSize("2GiB"), 2147483648u);
  EXPECT_EQ(ParseSize("10kB"), 10000u);
  for (const char* text : {"", "KiB", "1K", "-1", "1e5", "1..5", "99999999GiB"}) EXPECT_FALSE(ParseSize(text)) << text;
}

TEST(ParseDuration, KnowsItsUnits) {
  EXPECT_EQ(ParseDuration("250us"), nanoseconds(250'000));
  EXPECT_EQ(ParseDuration("1.5s"), nanoseconds(1'500'000'000));
  EXPECT_EQ(ParseDuration("5m"), nanoseconds(300'000'000'000));
  EXPECT_EQ(ParseDuration("0"), nanoseconds(0));
  for (const char* text : {"", "10", "s", "-1s", "1d", "9999999999h"}) EXPECT_FALSE(ParseDuration(text)) << text;
}

TEST(SplitText, GivesThePartsBetween) {
  EXPECT_TRUE(SplitText("", ',').empty());
  EXPECT_EQ(SplitText("a", ','), (std::vector<std::string_view>{"a"}));
  EXPECT_EQ(SplitText("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
}

}  // namespace
}  // namespace kafscope
