#include "decode/avro_reader.h"

#include <algorithm>
#include <cstddef>

namespace kafscope {

DecodeError AvroError(AvroFault fault, uint64_t position) {
  const auto error = [position](ErrorReason reason, std::string_view text) {
    return DecodeError{reason, position, text};
  };
  switch (fault) {
    case AvroFault::kNone: return {};
    case AvroFault::kTruncated: return error(ErrorReason::kTruncated, "the value ends inside of a field");
    case AvroFault::kTrailingBytes: return error(ErrorReason::kTrailingBytes, "bytes remain after the last field");
    case AvroFault::kBadVarint: return error(ErrorReason::kInvalidValue, "a number longer than 64 bits");
    case AvroFault::kIntRange: return error(ErrorReason::kInvalidValue, "an int beyond 32 bits");
    case AvroFault::kBadBoolean: return error(ErrorReason::kInvalidValue, "a boolean that is neither 0 nor 1");
    case AvroFault::kNegativeLength: return error(ErrorReason::kInvalidValue, "a negative length");
    case AvroFault::kBadCount: return error(ErrorReason::kInvalidValue, "an impossible count of items");
    case AvroFault::kEnumIndex: return error(ErrorReason::kInvalidValue, "an enum index without a symbol");
    case AvroFault::kUnionBranch: return error(ErrorReason::kInvalidValue, "a union branch that does not exist");
    case AvroFault::kTooDeep: return error(ErrorReason::kTooDeep, "records are nested too deep");
    case AvroFault::kTooManyEmpty: return error(ErrorReason::kTooLarge, "too many items without bytes");
    case AvroFault::kTooLarge: return error(ErrorReason::kTooLarge, "a value is too large as text");
  }
  return {};
}

AvroVarint ReadLongVarint(const uint8_t* at, const uint8_t* end) {
  uint64_t raw = 0;
  const int most = static_cast<int>(std::min<std::ptrdiff_t>(end - at, 10));
  for (int i = 0; i < most; ++i) {
    const uint64_t byte = at[i];
    raw |= (byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    if (i == 9 && byte > 1) break;
    return {at + i + 1, raw};
  }
  return {nullptr, 0};
}

AvroFault VarintFault(const uint8_t* at, const uint8_t* end) {
  const std::ptrdiff_t left = end - at;
  const bool cut = left < 10 && std::all_of(at, end, [](uint8_t byte) { return byte >= 0x80; });
  return cut ? AvroFault::kTruncated : AvroFault::kBadVarint;
}

AvroFault ReadBlockCount(AvroCursor& cursor, bool item_may_be_empty, uint64_t* count) {
  const uint8_t* start = cursor.at;
  int64_t signed_count = 0;
  KAFSCOPE_AVRO_TRY(ReadLong(cursor, &signed_count));
  *count = static_cast<uint64_t>(signed_count);
  if (signed_count < 0) {
    *count = 0 - *count;
    int64_t size = 0;  // for readers that skip; the items tell their own sizes
    KAFSCOPE_AVRO_TRY(ReadLong(cursor, &size));
  }
  if (!item_may_be_empty && *count > cursor.left()) {
    cursor.at = start;
    return AvroFault::kBadCount;
  }
  return AvroFault::kNone;
}

}  // namespace kafscope
