#include "base/number_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

namespace kafscope {
namespace {

std::string Text(double value) {
  std::string out;
  AppendDouble(value, &out);
  return out;
}

double Read(const std::string& text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_EQ(result.ptr, text.data() + text.size()) << text;
  return value;
}

size_t DigitCount(std::string_view text) {
  text = text.substr(0, text.find('e'));
  std::string digits;
  for (const char c : text) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  const size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return 0;
  return digits.find_last_not_of('0') - first + 1;
}

// The same value, and no more digits than the shortest form has.
void ExpectShortest(double value) {
  const std::string text = Text(value);
  ASSERT_LE(text.size(), kMaxDoubleSize);
  char slow[kMaxDoubleSize];
  ASSERT_EQ(std::string_view(slow, WriteDoubleSlow(value, slow)), text);
  ASSERT_EQ(std::bit_cast<uint64_t>(Read(text)), std::bit_cast<uint64_t>(value)) << text;
  char reference[64];
  const char* end = std::to_chars(reference, reference + sizeof(reference), value, std::chars_format::scientific).ptr;
  ASSERT_EQ(DigitCount(text), DigitCount({reference, end})) << text;
}

TEST(NumberFormat, IntegersWithAllDigits) {
  for (int shift = 0; shift < 64; ++shift) {
    for (int delta = -1; delta <= 1; ++delta) {
      const uint64_t value = (uint64_t{1} << shift) + static_cast<uint64_t>(static_cast<int64_t>(delta));
      std::string text;
      AppendUint64(value, &text);
      EXPECT_EQ(text, std::to_string(value));
      text.clear();
      AppendInt64(static_cast<int64_t>(value), &text);
      EXPECT_EQ(text, std::to_string(static_cast<int64_t>(value)));
    }
  }
  uint64_t power = 1;
  for (int digits = 1; digits <= 20; ++digits, power *= 10) {
    for (const uint64_t value : {power - 1, power, power + 1}) {
      std::string text;
      AppendUint64(value, &text);
      EXPECT_EQ(text, std::to_string(value));
    }
  }
  std::string text;
  AppendInt64(std::numeric_limits<int64_t>::min(), &text);
  EXPECT_EQ(text, "-9223372036854775808");
}

TEST(NumberFormat, DoublesAsGrafanaWritesThem) {
  const std::pair<double, std::string_view> cases[] = {{0.0, "0"},
                                                       {-0.0, "-0"},
                                                       {1.0, "1"},
                                                       {1.5, "1.5"},
                                                       {-21.5, "-21.5"},
                                                       {0.1, "0.1"},
                                                       {1e-6, "0.000001"},
                                                       {1e-7, "1e-7"},
                                                       {-1.25e-9, "-1.25e-9"},
                                                       {1e20, "100000000000000000000"},
                                                       {1e21, "1e+21"},
                                                       {1.7976931348623157e308, "1.7976931348623157e+308"},
                                                       {5e-324, "5e-324"},
                                                       {9007199254740993.0, "9007199254740992"},
                                                       {123456789012345680000.0, "123456789012345680000"},
                                                       {0.1 + 0.2, "0.30000000000000004"},
                                                       {100.25, "100.25"},
                                                       {0.000123, "0.000123"},
                                                       {1234567.891, "1234567.891"}};
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(Text(value), text);
    ExpectShortest(value);
  }
}

TEST(NumberFormat, ShortDecimalsAreShortest) {
  std::mt19937_64 random(11);
  double power = 1;
  for (int decimals = 0; decimals <= 12; ++decimals, power *= 10) {
    for (int i = 0; i < 3000; ++i) {
      const auto mantissa = static_cast<double>(static_cast<int64_t>(random() >> (random() % 50 + 12)));
      ExpectShortest(mantissa / power);
      ExpectShortest(-mantissa / power);
      // Neighbours need up to 17 digits and must not be taken for the short one.
      ExpectShortest(std::nextafter(mantissa / power, 1e300));
    }
  }
}

TEST(NumberFormat, AnyDoubleIsShortest) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 50'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) ExpectShortest(value);
  }
}

}  // namespace
}  // namespace kafscope
