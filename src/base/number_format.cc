#include "base/number_format.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace kafscope {

namespace {

constexpr std::array<char, 200> MakePairs() {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}
constexpr std::array<char, 200> kPairs = MakePairs();

constexpr uint32_t k1e4 = 10'000;
constexpr uint32_t k1e8 = 100'000'000;
constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53
constexpr double kLeastPlain = 1e-6;                     // smaller values are written with an exponent

void WritePair(uint32_t value, char* out) { std::memcpy(out, kPairs.data() + 2 * static_cast<size_t>(value), 2); }

// Exactly 4 and 8 digits, with leading zeros.
void Write4(uint32_t value, char* out) {
  WritePair(value / 100, out);
  WritePair(value % 100, out + 2);
}
void Write8(uint32_t value, char* out) {
  Write4(value / k1e4, out);
  Write4(value % k1e4, out + 4);
}

// 1 to 4 digits.
char* WriteUpTo4(uint32_t value, char* out) {
  if (value < 100) {
    if (value < 10) {
      *out = static_cast<char>('0' + value);
      return out + 1;
    }
    WritePair(value, out);
    return out + 2;
  }
  if (value < 1000) {
    *out = static_cast<char>('0' + value / 100);
    WritePair(value % 100, out + 1);
    return out + 3;
  }
  Write4(value, out);
  return out + 4;
}

// 1 to 8 digits.
char* WriteUpTo8(uint32_t value, char* out) {
  if (value < k1e4) return WriteUpTo4(value, out);
  out = WriteUpTo4(value / k1e4, out);
  Write4(value % k1e4, out);
  return out + 4;
}

// `mantissa` × 10^-decimals, without trailing zeros. REQUIRES: decimals ≤ 9, mantissa ≥ 0.
char* WriteScaled(uint64_t mantissa, uint32_t scale, int decimals, char* out) {
  out = WriteUint64(mantissa / scale, out);
  auto fraction = static_cast<uint32_t>(mantissa % scale);
  if (fraction == 0) return out;
  *out++ = '.';
  for (int i = decimals - 1; i >= 0; --i, fraction /= 10) out[i] = static_cast<char>('0' + fraction % 10);
  out += decimals;
  while (out[-1] == '0') --out;
  return out;
}

// A decimal of at most 15 digits is told apart from every other by its double, so if m / 10^k (one correctly rounded
// division of two exact doubles) gives `value` back, m × 10^-k is the shortest text once its trailing zeros are gone.
// Gives null where this does not hold. REQUIRES: 0 < value.
char* WriteShortDecimal(double value, char* out) {
  constexpr double kLimit = 1e15;
  struct Scale {
    double factor;
    uint32_t integer;
    int decimals;
  };
  static constexpr Scale kScales[] = {{1e3, 1'000, 3}, {1e6, 1'000'000, 6}, {1e9, 1'000'000'000, 9}};
  for (const Scale& scale : kScales) {
    const double scaled = value * scale.factor;
    if (!(scaled < kLimit)) return nullptr;
    const auto mantissa = static_cast<int64_t>(scaled + 0.5);
    if (static_cast<double>(mantissa) / scale.factor == value) {
      return WriteScaled(static_cast<uint64_t>(mantissa), scale.integer, scale.decimals, out);
    }
  }
  return nullptr;
}

// Any value ≥ 0: the shortest digits and their exponent from to_chars, laid out as Go's encoding/json does.
char* WriteLongDecimal(double value, char* out) {
  constexpr int kSmallest = -6;  // 1e-6 and more, below 1e21: without exponent
  constexpr int kLargest = 21;
  char text[kMaxDoubleSize];
  const char* end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific).ptr;
  const char* e = end;
  while (*--e != 'e') {
  }
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, exponent);
  char digits[20] = {};
  int count = 0;
  for (const char* p = text; p < e; ++p) {
    if (*p != '.') digits[count++] = *p;
  }
  const auto put = [&out, &digits](int from, int to) {
    std::memcpy(out, digits + from, static_cast<size_t>(to - from));
    out += to - from;
  };
  if (exponent < kSmallest || exponent >= kLargest) {
    put(0, 1);
    if (count > 1) *out++ = '.';
    put(1, count);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    return WriteUint64(static_cast<uint64_t>(std::abs(exponent)), out);
  }
  if (exponent < 0) {
    *out++ = '0';
    *out++ = '.';
    for (int i = exponent + 1; i < 0; ++i) *out++ = '0';
    put(0, count);
    return out;
  }
  if (count <= exponent + 1) {
    put(0, count);
    for (int i = count; i <= exponent; ++i) *out++ = '0';
    return out;
  }
  put(0, exponent + 1);
  *out++ = '.';
  put(exponent + 1, count);
  return out;
}

}  // namespace

char* WriteUint64(uint64_t value, char* out) {
  if (value < k1e8) return WriteUpTo8(static_cast<uint32_t>(value), out);
  const uint64_t high = value / k1e8;
  const auto low = static_cast<uint32_t>(value % k1e8);
  if (high < k1e8) {
    out = WriteUpTo8(static_cast<uint32_t>(high), out);
  } else {
    out = WriteUpTo4(static_cast<uint32_t>(high / k1e8), out);
    Write8(static_cast<uint32_t>(high % k1e8), out);
    out += 8;
  }
  Write8(low, out);
  return out + 8;
}

char* WriteInt64(int64_t value, char* out) {
  if (value >= 0) return WriteUint64(static_cast<uint64_t>(value), out);
  *out++ = '-';
  return WriteUint64(uint64_t{0} - static_cast<uint64_t>(value), out);
}

char* WriteDouble(double value, char* out) {
  if (std::signbit(value)) {
    *out++ = '-';
    value = -value;
  }
  if (value < kMaxExactInteger && (value >= kLeastPlain || value == 0)) {
    const auto integer = static_cast<int64_t>(value);
    if (static_cast<double>(integer) == value) return WriteUint64(static_cast<uint64_t>(integer), out);
    if (char* end = WriteShortDecimal(value, out); end != nullptr) return end;
  }
  return WriteLongDecimal(value, out);
}

char* WriteDoubleSlow(double value, char* out) {
  if (std::signbit(value)) *out++ = '-';
  return WriteLongDecimal(std::fabs(value), out);
}

void AppendUint64(uint64_t value, std::string* out) {
  char text[kMaxIntegerSize];
  out->append(text, WriteUint64(value, text));
}

void AppendInt64(int64_t value, std::string* out) {
  char text[kMaxIntegerSize];
  out->append(text, WriteInt64(value, text));
}

void AppendDouble(double value, std::string* out) {
  char text[kMaxDoubleSize];
  out->append(text, WriteDouble(value, text));
}

}  // namespace kafscope
