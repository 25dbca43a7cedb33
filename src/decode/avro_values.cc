#include "decode/avro_values.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/number_format.h"

namespace kafscope {
namespace {

constexpr int64_t kSecondsPerDay = 86400;

void AppendPadded(uint64_t value, size_t digits, std::string* out) {
  char text[kMaxIntegerSize];
  const auto size = static_cast<size_t>(WriteUint64(value, text) - text);
  if (size < digits) out->append(digits - size, '0');
  out->append(text, size);
}

struct Civil {
  int64_t year;
  uint32_t month;
  uint32_t day;
};

// Proleptic Gregorian, for any day number whose year fits (days since 1970-01-01).
Civil CivilFromDays(int64_t days) {
  const int64_t z = days + 719468;  // days since 0000-03-01
  const int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const auto day_of_era = static_cast<uint32_t>(z - era * 146097);
  const uint32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t shifted_month = (5 * day_of_year + 2) / 153;
  const uint32_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {static_cast<int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

void AppendCivil(const Civil& date, std::string* out) {
  if (date.year < 0) *out += '-';
  if (date.year > 9999) *out += '+';
  AppendPadded(static_cast<uint64_t>(std::abs(date.year)), 4, out);
  *out += '-';
  AppendPadded(date.month, 2, out);
  *out += '-';
  AppendPadded(date.day, 2, out);
}

void AppendClock(uint32_t seconds, std::string* out) {
  AppendPadded(seconds / 3600, 2, out);
  *out += ':';
  AppendPadded(seconds / 60 % 60, 2, out);
  *out += ':';
  AppendPadded(seconds % 60, 2, out);
}

// Quotient rounded down, and the rest in 0…divisor−1.
int64_t FloorDivide(int64_t value, int64_t divisor, int64_t* rest) {
  int64_t quotient = value / divisor;
  *rest = value % divisor;
  if (*rest < 0) {
    *rest += divisor;
    --quotient;
  }
  return quotient;
}

// Decimal digits of a magnitude of 16 bytes at most.
void AppendMagnitude128(unsigned __int128 value, std::string* out) {
  constexpr uint64_t k1e19 = 10'000'000'000'000'000'000u;
  uint64_t parts[3];
  size_t count = 0;
  do {
    parts[count++] = static_cast<uint64_t>(value % k1e19);
    value /= k1e19;
  } while (value != 0);
  AppendUint64(parts[count - 1], out);
  for (size_t i = count - 1; i-- > 0;) AppendPadded(parts[i], 19, out);
}

// The same for any magnitude: repeated division of 32-bit limbs, most significant first, by 10^9.
void AppendMagnitude(const std::vector<uint8_t>& bytes, std::string* out) {
  std::vector<uint32_t> limbs((bytes.size() + 3) / 4);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t from_end = bytes.size() - 1 - i;
    limbs[limbs.size() - 1 - from_end / 4] |= static_cast<uint32_t>(bytes[i]) << (8 * (from_end % 4));
  }
  std::vector<uint32_t> parts;
  for (size_t first = 0; first < limbs.size();) {
    uint64_t rest = 0;
    for (size_t i = first; i < limbs.size(); ++i) {
      const uint64_t value = rest << 32 | limbs[i];
      limbs[i] = static_cast<uint32_t>(value / 1'000'000'000);
      rest = value % 1'000'000'000;
    }
    parts.push_back(static_cast<uint32_t>(rest));
    while (first < limbs.size() && limbs[first] == 0) ++first;
  }
  AppendUint64(parts.back(), out);
  for (size_t i = parts.size() - 1; i-- > 0;) AppendPadded(parts[i], 9, out);
}

}  // namespace

std::string_view StripSignBytes(std::string_view bytes) {
  while (bytes.size() > 1) {
    const auto first = static_cast<uint8_t>(bytes[0]);
    const bool next_negative = (static_cast<uint8_t>(bytes[1]) & 0x80) != 0;
    if (!(first == 0 && !next_negative) && !(first == 0xff && next_negative)) break;
    bytes.remove_prefix(1);
  }
  return bytes;
}

bool DecimalToInt64(std::string_view bytes, int64_t* value) {
  if (bytes.size() > 8) return false;
  const bool negative = !bytes.empty() && (static_cast<uint8_t>(bytes[0]) & 0x80) != 0;
  uint64_t raw = negative ? ~uint64_t{0} : 0;
  for (char c : bytes) raw = raw << 8 | static_cast<uint8_t>(c);
  *value = static_cast<int64_t>(raw);
  return true;
}

void AppendDecimal(std::string_view bytes, uint32_t scale, std::string* out) {
  bytes = StripSignBytes(bytes);
  const bool negative = !bytes.empty() && (static_cast<uint8_t>(bytes[0]) & 0x80) != 0;
  if (negative) *out += '-';
  const size_t start = out->size();
  if (bytes.size() <= 16) {
    unsigned __int128 raw = negative ? ~static_cast<unsigned __int128>(0) : 0;
    for (char c : bytes) raw = raw << 8 | static_cast<uint8_t>(c);
    AppendMagnitude128(negative ? 0 - raw : raw, out);
  } else {
    std::vector<uint8_t> magnitude(bytes.begin(), bytes.end());
    if (negative) {  // two's complement
      bool carry = true;
      for (size_t i = magnitude.size(); i-- > 0;) {
        magnitude[i] = static_cast<uint8_t>(~magnitude[i] + (carry ? 1 : 0));
        carry = carry && magnitude[i] == 0;
      }
    }
    AppendMagnitude(magnitude, out);
  }
  if (scale == 0) return;
  const size_t digits = out->size() - start;
  if (digits <= scale) out->insert(start, scale - digits + 1, '0');
  out->insert(out->size() - scale, 1, '.');
}

void AppendTimeOfDay(int64_t value, int64_t per_second, std::string* out) {
  if (value < 0 || value >= kSecondsPerDay * per_second) return AppendInt64(value, out);
  AppendClock(static_cast<uint32_t>(value / per_second), out);
  *out += '.';
  AppendPadded(static_cast<uint64_t>(value % per_second), per_second == 1000 ? 3 : 6, out);
}

void AppendInstant(int64_t value, int64_t per_second, std::string* out) {
  int64_t fraction = 0;
  int64_t clock = 0;
  const int64_t seconds = FloorDivide(value, per_second, &fraction);
  const int64_t days = FloorDivide(seconds, kSecondsPerDay, &clock);
  AppendCivil(CivilFromDays(days), out);
  *out += 'T';
  AppendClock(static_cast<uint32_t>(clock), out);
  const int64_t nanos = fraction * (1'000'000'000 / per_second);
  *out += '.';
  if (nanos % 1'000'000 == 0) {
    AppendPadded(static_cast<uint64_t>(nanos / 1'000'000), 3, out);
  } else if (nanos % 1000 == 0) {
    AppendPadded(static_cast<uint64_t>(nanos / 1000), 6, out);
  } else {
    AppendPadded(static_cast<uint64_t>(nanos), 9, out);
  }
  *out += 'Z';
}

void AppendDate(int32_t days, std::string* out) { AppendCivil(CivilFromDays(days), out); }

void AppendDuration(std::string_view bytes, std::string* out) {
  uint32_t parts[3];  // months, days, milliseconds; little endian
  std::memcpy(parts, bytes.data(), sizeof parts);
  *out += 'P';
  AppendUint64(parts[0], out);
  *out += 'M';
  AppendUint64(parts[1], out);
  *out += "DT";
  AppendUint64(parts[2] / 1000, out);
  *out += '.';
  AppendPadded(parts[2] % 1000, 3, out);
  *out += 'S';
}

void AppendUuid(std::string_view bytes, std::string* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *out += '-';
    const auto byte = static_cast<uint8_t>(bytes[i]);
    *out += kDigits[byte >> 4];
    *out += kDigits[byte & 15];
  }
}

}  // namespace kafscope
