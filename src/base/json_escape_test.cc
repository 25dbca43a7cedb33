#include "base/json_escape.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace kafscope {
namespace {

// Byte for byte, without any block.
std::string Slow(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escape[8];
          std::snprintf(escape, sizeof(escape), "\\u%04x", c);
          out += escape;
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

void ExpectAllWriters(std::string_view text) {
  const std::string expected = Slow(text);
  std::vector<char> room(MaxJsonStringSize(text.size()));
  EXPECT_EQ(std::string_view(room.data(), WriteJsonString(text, room.data())), expected);
  // Whatever stands behind the text must not show.
  std::string padded(text);
  padded += std::string(16, '"');
  const std::string_view view(padded.data(), text.size());
  EXPECT_EQ(std::string_view(room.data(), WriteJsonStringPadded(view, room.data())), expected);
  std::string appended = "x";
  AppendJsonString(text, &appended);
  EXPECT_EQ(appended, "x" + expected);
  EXPECT_EQ(JsonStringSize(text), expected.size());
}

TEST(JsonEscape, EveryByteAtEveryPlace) {
  for (int c = 0; c < 256; ++c) {
    for (const size_t size : {1, 7, 15, 16, 17, 33}) {
      for (size_t at = 0; at < size; ++at) {
        std::string text(size, 'a');
        text[at] = static_cast<char>(c);
        ExpectAllWriters(text);
      }
    }
  }
}

TEST(JsonEscape, TextsOfManyEscapes) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 80, '\0');
    for (char& c : text) c = static_cast<char>(random() % 4 == 0 ? random() % 40 : 'a');
    ExpectAllWriters(text);
  }
  ExpectAllWriters("");
  ExpectAllWriters(std::string(500, '\0'));
}

}  // namespace
}  // namespace kafscope
