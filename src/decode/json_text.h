// JsonText: the characters of one JSON text (RFC 8259), read forward. Strings, numbers and whole values to be kept as
// text; what they mean for columns is json_decoder's.
//
// REQUIRES of the text: valid UTF-8, followed by at least kJsonPadding zero bytes. So no read needs a bounds check: a
// zero byte is valid nowhere in JSON and ends every loop.
// Threads: one thread. Cost: no allocation.
#pragma once

#include <emmintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kafscope {

inline constexpr size_t kJsonPadding = 64;
inline constexpr int kMaxJsonNesting = 1024;

// A position in the text, and the first fault.
struct JsonCursor {
  const char* at = nullptr;
  std::string_view fault;  // static text; empty: none

  bool Failed(std::string_view text) {
    fault = text;
    return false;
  }
};

inline void SkipSpace(JsonCursor& cursor) {
  // PERF: compact JSON has none, so the first test is the usual way out.
  while (static_cast<unsigned char>(*cursor.at) <= ' ') {
    const char c = *cursor.at;
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
    ++cursor.at;
  }
}

// The first '"', '\\' or control character at or after `text`.
inline const char* FindStringStop(const char* text) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i control = _mm_set1_epi8(0x1f);
  for (;; text += sizeof(__m128i)) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
    const __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(chunk, control), chunk);
    const __m128i stops =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, backslash)), is_control);
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(stops));
    if (mask != 0) return text + std::countr_zero(mask);
  }
}

// A string as it stands between its quotes.
struct RawString {
  std::string_view text;
  bool escaped = false;  // holds at least one backslash
};

// Reads a string. REQUIRES: cursor at its first character, after the quote. Leaves it after the closing quote. Escapes
// are checked, not replaced.
bool ReadEscapedString(JsonCursor& cursor, const char* begin, RawString* out);
inline bool ReadString(JsonCursor& cursor, RawString* out) {
  const char* begin = cursor.at;
  const char* stop = FindStringStop(begin);
  if (*stop == '"') [[likely]] {
    out->text = {begin, static_cast<size_t>(stop - begin)};
    out->escaped = false;
    cursor.at = stop + 1;
    return true;
  }
  cursor.at = stop;
  return ReadEscapedString(cursor, begin, out);
}

// Writes the meaning of a checked string to `out` (never longer than its text); gives the end. A lone surrogate becomes
// U+FFFD and is counted.
char* Unescape(std::string_view raw, char* out, uint64_t* replaced);

struct JsonNumber {
  enum class Kind : uint8_t { kInt64, kUint64, kFloat64, kText };  // kText: beyond what the others hold
  Kind kind;
  union {
    int64_t int64;
    uint64_t uint64;
    double float64;
  };
  std::string_view text;
};

// REQUIRES: cursor at '-' or a digit. Leaves it after the number.
bool ReadNumber(JsonCursor& cursor, JsonNumber* out);

// Checks one value of any kind and steps over it. `nesting` is how many containers are open around it.
bool SkipValue(JsonCursor& cursor, int nesting);

// REQUIRES: cursor at 't', 'f' or 'n'.
inline bool ReadWord(JsonCursor& cursor, std::string_view word) {
  if (std::memcmp(cursor.at, word.data(), word.size()) != 0) return cursor.Failed("expected true, false or null");
  cursor.at += word.size();
  return true;
}

}  // namespace kafscope
