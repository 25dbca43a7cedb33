#include "base/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace kafscope {
namespace {

std::string Replaced(std::string_view text, size_t* count) {
  std::string out = "before:";
  *count = AppendReplacedUtf8(text, &out);
  return out.substr(7);
}

TEST(Utf8, ValidTextOfEveryLengthStays) {
  for (const std::string_view text : {"", "plain", "grüße", "€", "日本語", "😀", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf",
                                      "\xee\x80\x80", "\xef\xbf\xbf", "\xe0\xa0\x80", "\xf0\x90\x80\x80"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
    size_t count = 0;
    EXPECT_EQ(Replaced(text, &count), text);
    EXPECT_EQ(count, 0u);
  }
}

TEST(Utf8, OneReplacementPerMaximalSubpart) {
  struct Case {
    std::string_view bytes;
    std::string_view expected;
    size_t count;
  };
  const Case cases[] = {
      {"\x80", "\ufffd", 1},
      {"\xc0\xaf", "\ufffd\ufffd", 2},
      {"\xe0\x80\x80", "\ufffd\ufffd\ufffd", 3},
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd", 3},  // a surrogate
      {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd", 4},
      {"\xe2\x82", "\ufffd", 1},  // cut off
      {"\xe2\x82z", "\ufffdz", 1},
      {"\xf0\x9f\x98", "\ufffd", 1},
      {"\xf0\x9f\x98\xe2\x82\xac", "\ufffd€", 1},
      {"a\xff"
       "b\xfe",
       "a\ufffdb\ufffd", 2},
      {"\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd", 6},
  };
  for (const Case& c : cases) {
    EXPECT_FALSE(IsValidUtf8(c.bytes));
    size_t count = 0;
    EXPECT_EQ(Replaced(c.bytes, &count), c.expected);
    EXPECT_EQ(count, c.count);
  }
}

TEST(Utf8, FindsABadByteAtEveryPlace) {
  for (size_t size = 1; size < 70; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = '\xff';
      EXPECT_EQ(ValidUtf8Prefix(text), at);
      size_t count = 0;
      EXPECT_EQ(Replaced(text, &count).size(), size + 2);
      EXPECT_EQ(count, 1u);
    }
  }
}

TEST(Utf8, WhatIsReplacedIsValidAndStaysSo) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes) {
      const auto pick = static_cast<uint32_t>(random());
      c = static_cast<char>(pick % 3 == 0 ? 'a' + pick % 26 : 0x80 + pick / 8 % 128);
    }
    size_t count = 0;
    const std::string once = Replaced(bytes, &count);
    ASSERT_TRUE(IsValidUtf8(once));
    ASSERT_EQ(count == 0, IsValidUtf8(bytes));
    size_t again = 0;
    ASSERT_EQ(Replaced(once, &again), once);
    ASSERT_EQ(again, 0u);
  }
}

}  // namespace
}  // namespace kafscope
