#include "base/time_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace kafscope {
namespace {

TEST(TimeText, AsFewFractionDigitsAsKeepItExact) {
  EXPECT_EQ(ToRfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(ToRfc3339(1'700'000'000'000'000'123), "2023-11-14T22:13:20.000000123Z");
  EXPECT_EQ(ToRfc3339(1'700'000'000'000'120'000), "2023-11-14T22:13:20.000120Z");
  EXPECT_EQ(ToRfc3339(-1), "1969-12-31T23:59:59.999999999Z");
}

TEST(TimeText, ExtremesRoundTrip) {
  for (const int64_t t : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), int64_t{0},
                          int64_t{951'782'400'000'000'000}}) {
    EXPECT_EQ(ParseRfc3339(ToRfc3339(t)), t) << t;
  }
}

TEST(TimeText, ReadsZonesAndLongFractions) {
  EXPECT_EQ(ParseRfc3339("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(ParseRfc3339("1969-12-31 16:00:00-08:00"), 0);
  EXPECT_EQ(ParseRfc3339("1970-01-01T00:00:00.1234567899Z"), 123456789);
}

TEST(TimeText, RefusesWhatIsNone) {
  for (const char* text : {"", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z", "1970-02-30T00:00:00Z",
                           "1970-01-01T24:00:00Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00Zx",
                           "1600-01-01T00:00:00Z", "3000-01-01T00:00:00Z", "1970-01-01T00:00:00+24:00"}) {
    EXPECT_FALSE(ParseRfc3339(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace kafscope
