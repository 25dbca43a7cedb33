#include "base/json_escape.h"

#include <emmintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace kafscope {

namespace {

// Bit i is set if byte i needs an escape: a control character, '"' or '\'.
uint32_t EscapeMask(__m128i bytes) {
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, last_control), last_control);
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash))));
}

bool NeedsEscape(char c) { return static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\'; }

char* WriteEscape(char c, char* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  *out++ = '\\';
  switch (c) {
    case '"':
    case '\\': *out = c; return out + 1;
    case '\b': *out = 'b'; return out + 1;
    case '\f': *out = 'f'; return out + 1;
    case '\n': *out = 'n'; return out + 1;
    case '\r': *out = 'r'; return out + 1;
    case '\t': *out = 't'; return out + 1;
    default: break;
  }
  const auto byte = static_cast<uint8_t>(c);
  std::memcpy(out, "u00", 3);
  out[3] = kHex[byte >> 4];
  out[4] = kHex[byte & 15];
  return out + 5;
}

// Copies whole blocks of 16 bytes up to the first that is not whole.
const char* WriteBlocks(const char* p, const char* end, char*& out) {
  while (end - p >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    const uint32_t mask = EscapeMask(bytes);
    if (mask == 0) [[likely]] {
      p += 16;
      out += 16;
      continue;
    }
    const int clean = std::countr_zero(mask);
    out = WriteEscape(p[clean], out + clean);
    p += clean + 1;
  }
  return p;
}

}  // namespace

char* WriteJsonString(std::string_view text, char* out) {
  const char* end = text.data() + text.size();
  *out++ = '"';
  const char* p = WriteBlocks(text.data(), end, out);
  for (; p < end; ++p) {
    if (NeedsEscape(*p)) [[unlikely]] {
      out = WriteEscape(*p, out);
    } else {
      *out++ = *p;
    }
  }
  *out = '"';
  return out + 1;
}

char* WriteJsonStringPadded(std::string_view text, char* out) {
  const char* end = text.data() + text.size();
  *out++ = '"';
  const char* p = WriteBlocks(text.data(), end, out);
  while (p < end) {
    const auto left = static_cast<int>(end - p);
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    const uint32_t mask = EscapeMask(bytes) & ((1u << left) - 1);
    if (mask == 0) [[likely]] {
      out += left;
      break;
    }
    const int clean = std::countr_zero(mask);
    out = WriteEscape(p[clean], out + clean);
    p += clean + 1;
  }
  *out = '"';
  return out + 1;
}

size_t JsonStringSize(std::string_view text) {
  size_t size = text.size() + 2;
  for (const char c : text) {
    if (!NeedsEscape(c)) continue;
    char escape[8];
    size += static_cast<size_t>(WriteEscape(c, escape) - escape) - 1;
  }
  return size;
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!NeedsEscape(text[i])) continue;
    out->append(text.substr(from, i - from));
    char escape[8];
    out->append(escape, WriteEscape(text[i], escape));
    from = i + 1;
  }
  out->append(text.substr(from));
  out->push_back('"');
}

}  // namespace kafscope
