// Values of Avro's logical types as text and numbers, exact for every input.
// Cost: appends to a string that the caller keeps; no other allocation but for decimals beyond 16 bytes.
// Threads: free functions, safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kafscope {

// A decimal's digits: big-endian two's complement of any length; no byte at all is 0.
// The longest that is accepted, sign bytes not counted: more than 1000 digits, the most a schema may ask for.
inline constexpr size_t kMaxDecimalBytes = 512;
// `bytes` without sign bytes that say nothing.
std::string_view StripSignBytes(std::string_view bytes);
// The value, if it fits. REQUIRES: StripSignBytes() was called.
bool DecimalToInt64(std::string_view bytes, int64_t* value);
// "-0.50", "12": with `scale` digits behind the point. REQUIRES: at most kMaxDecimalBytes.
void AppendDecimal(std::string_view bytes, uint32_t scale, std::string* out);

// "13:37:05.123"; a value that is no time of day as its digits. `per_second`: 1000 or 1000000.
void AppendTimeOfDay(int64_t value, int64_t per_second, std::string* out);
// "9999-12-31T00:00:00.000Z", "-0044-…", "+12345-…": what nanoseconds since 1970 cannot hold. `per_second`: units a
// second, at most 10^9; a date is given in seconds.
void AppendInstant(int64_t value, int64_t per_second, std::string* out);
// "2024-02-29"
void AppendDate(int32_t days, std::string* out);
// "P1M2DT3.004S". REQUIRES: 12 bytes.
void AppendDuration(std::string_view bytes, std::string* out);
// "01234567-89ab-…". REQUIRES: 16 bytes.
void AppendUuid(std::string_view bytes, std::string* out);

}  // namespace kafscope
