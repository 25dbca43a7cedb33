#include "decode/json_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace kafscope {

namespace {

constexpr std::string_view kControl = "control character in a string";
constexpr std::string_view kUnterminated = "the text ends inside a string";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits, known to be such.
uint32_t HexUnit(const char* digits) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) unit = unit << 4 | static_cast<uint32_t>(HexValue(digits[i]));
  return unit;
}

bool CheckEscape(JsonCursor& cursor) {
  switch (cursor.at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': cursor.at += 2; return true;
    case 'u':
      for (int i = 2; i < 6; ++i) {
        if (HexValue(cursor.at[i]) < 0) return cursor.Failed("\\u wants four hexadecimal digits");
      }
      cursor.at += 6;
      return true;
    default: return cursor.Failed("unknown escape in a string");
  }
}

char* WriteUtf8(uint32_t code, char* out) {
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *out++ = static_cast<char>(0xc0 | code >> 6);
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = static_cast<char>(0xe0 | code >> 12);
    *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out++ = static_cast<char>(0xf0 | code >> 18);
    *out++ = static_cast<char>(0x80 | (code >> 12 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  }
  return out;
}

// `at` stands after `\u`; takes the low surrogate too where one follows.
uint32_t ReadCodePoint(const char*& at, const char* end, uint64_t* replaced) {
  constexpr uint32_t kReplacement = 0xfffd;
  const uint32_t unit = HexUnit(at);
  at += 4;
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    const uint32_t low = HexUnit(at + 2);
    if (low >= 0xdc00 && low <= 0xdfff) {
      at += 6;
      return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  }
  ++*replaced;
  return kReplacement;
}

constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The general way, correctly rounded; false: beyond the range of double.
bool ParseDouble(std::string_view text, double* value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc()) return true;
  // from_chars says the same of too large and too small; too small is zero or a denormal, which strtod gives.
  *value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(*value);
}

// mantissa × 10^exponent where both are exact in a double, so that one rounding gives the right result.
bool ShortDouble(uint64_t mantissa, int64_t exponent, double* value) {
  constexpr uint64_t kExact = uint64_t{1} << 53;
  if (mantissa > kExact || exponent < -22 || exponent > 22) return false;
  const auto whole = static_cast<double>(mantissa);
  *value = exponent < 0 ? whole / kPowersOfTen[static_cast<size_t>(-exponent)]
                        : whole * kPowersOfTen[static_cast<size_t>(exponent)];
  return true;
}

// Digits read so far of a number.
struct Digits {
  uint64_t value = 0;  // of the first 19 significant digits
  int count = 0;       // significant digits, also those beyond 19
  bool exact() const { return count <= 19; }
};

const char* TakeDigits(const char* at, Digits* digits) {
  for (; IsDigit(*at); ++at) {
    const auto digit = static_cast<uint64_t>(*at - '0');
    if (digits->count < 19) digits->value = digits->value * 10 + digit;
    if (digits->count > 0 || digit != 0) ++digits->count;
  }
  return at;
}

void FinishInteger(std::string_view text, bool negative, const Digits& digits, JsonNumber* out) {
  constexpr auto kInt64Max = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  out->text = text;
  if (digits.exact() && digits.value <= kInt64Max) {
    out->kind = JsonNumber::Kind::kInt64;
    out->int64 = negative ? -static_cast<int64_t>(digits.value) : static_cast<int64_t>(digits.value);
    return;
  }
  const char* end = text.data() + text.size();
  if (negative) {
    int64_t value = 0;
    out->kind =
        std::from_chars(text.data(), end, value).ec == std::errc() ? JsonNumber::Kind::kInt64 : JsonNumber::Kind::kText;
    out->int64 = value;
  } else {
    uint64_t value = 0;
    out->kind = std::from_chars(text.data(), end, value).ec == std::errc() ? JsonNumber::Kind::kUint64
                                                                           : JsonNumber::Kind::kText;
    out->uint64 = value;
  }
}

bool SkipObject(JsonCursor& cursor, int nesting) {
  ++cursor.at;
  SkipSpace(cursor);
  if (*cursor.at == '}') {
    ++cursor.at;
    return true;
  }
  for (;;) {
    if (*cursor.at != '"') return cursor.Failed("expected a key in quotes");
    ++cursor.at;
    RawString key;
    if (!ReadString(cursor, &key)) return false;
    SkipSpace(cursor);
    if (*cursor.at != ':') return cursor.Failed("expected ':'");
    ++cursor.at;
    if (!SkipValue(cursor, nesting + 1)) return false;
    SkipSpace(cursor);
    const char c = *cursor.at;
    if (c != ',' && c != '}') return cursor.Failed("expected ',' or '}'");
    ++cursor.at;
    if (c == '}') return true;
    SkipSpace(cursor);
  }
}

bool SkipArray(JsonCursor& cursor, int nesting) {
  ++cursor.at;
  SkipSpace(cursor);
  if (*cursor.at == ']') {
    ++cursor.at;
    return true;
  }
  for (;;) {
    if (!SkipValue(cursor, nesting + 1)) return false;
    SkipSpace(cursor);
    const char c = *cursor.at;
    if (c != ',' && c != ']') return cursor.Failed("expected ',' or ']'");
    ++cursor.at;
    if (c == ']') return true;
  }
}

}  // namespace

bool ReadEscapedString(JsonCursor& cursor, const char* begin, RawString* out) {
  for (;;) {
    if (*cursor.at == '"') break;
    if (*cursor.at != '\\') return cursor.Failed(*cursor.at == '\0' ? kUnterminated : kControl);
    if (!CheckEscape(cursor)) return false;
    cursor.at = FindStringStop(cursor.at);
  }
  out->text = {begin, static_cast<size_t>(cursor.at - begin)};
  out->escaped = true;
  ++cursor.at;
  return true;
}

char* Unescape(std::string_view raw, char* out, uint64_t* replaced) {
  const char* at = raw.data();
  const char* end = at + raw.size();
  while (at < end) {
    const auto* backslash = static_cast<const char*>(std::memchr(at, '\\', static_cast<size_t>(end - at)));
    const char* stop = backslash == nullptr ? end : backslash;
    std::memmove(out, at, static_cast<size_t>(stop - at));
    out += stop - at;
    if (backslash == nullptr) break;
    at = backslash + 2;
    switch (backslash[1]) {
      case 'b': *out++ = '\b'; break;
      case 'f': *out++ = '\f'; break;
      case 'n': *out++ = '\n'; break;
      case 'r': *out++ = '\r'; break;
      case 't': *out++ = '\t'; break;
      case 'u': out = WriteUtf8(ReadCodePoint(at, end, replaced), out); break;
      default: *out++ = backslash[1]; break;
    }
  }
  return out;
}

bool ReadNumber(JsonCursor& cursor, JsonNumber* out) {
  const char* begin = cursor.at;
  const char* at = begin;
  const bool negative = *at == '-';
  if (negative) ++at;
  cursor.at = at;
  if (!IsDigit(*at)) return cursor.Failed("expected a digit");
  if (*at == '0' && IsDigit(at[1])) return cursor.Failed("a number must not begin with 0");
  Digits digits;
  at = TakeDigits(at, &digits);
  const auto text = [begin](const char* end) { return std::string_view(begin, static_cast<size_t>(end - begin)); };
  if (*at != '.' && *at != 'e' && *at != 'E') [[likely]] {
    cursor.at = at;
    FinishInteger(text(at), negative, digits, out);
    return true;
  }
  int64_t exponent = 0;
  if (*at == '.') {
    const char* fraction = ++at;
    at = TakeDigits(at, &digits);
    cursor.at = at;
    if (at == fraction) return cursor.Failed("expected a digit after '.'");
    exponent = -(at - fraction);
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    const bool below = *at == '-';
    if (*at == '-' || *at == '+') ++at;
    cursor.at = at;
    if (!IsDigit(*at)) return cursor.Failed("expected a digit in the exponent");
    int64_t written = 0;
    for (; IsDigit(*at); ++at) written = written < 100'000 ? written * 10 + (*at - '0') : written;
    exponent += below ? -written : written;
  }
  cursor.at = at;
  out->text = text(at);
  out->kind = JsonNumber::Kind::kFloat64;
  double value = 0;
  if (digits.exact() && ShortDouble(digits.value, exponent, &value)) {
    out->float64 = negative ? -value : value;
  } else if (ParseDouble(out->text, &value)) {
    out->float64 = value;
  } else {
    out->kind = JsonNumber::Kind::kText;
  }
  return true;
}

bool SkipValue(JsonCursor& cursor, int nesting) {
  SkipSpace(cursor);
  switch (*cursor.at) {
    case '"': {
      ++cursor.at;
      RawString text;
      return ReadString(cursor, &text);
    }
    case '{':
      if (nesting >= kMaxJsonNesting) return cursor.Failed("nested too deep");
      return SkipObject(cursor, nesting);
    case '[':
      if (nesting >= kMaxJsonNesting) return cursor.Failed("nested too deep");
      return SkipArray(cursor, nesting);
    case 't': return ReadWord(cursor, "true");
    case 'f': return ReadWord(cursor, "false");
    case 'n': return ReadWord(cursor, "null");
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': {
      JsonNumber number;
      return ReadNumber(cursor, &number);
    }
    default: return cursor.Failed("expected a value");
  }
}

}  // namespace kafscope
