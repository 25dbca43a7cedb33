// The Avro binary encoding, read with every length checked before it is used.
//
//   long    := zigzag varint, 1…10 bytes (int: must fit 32 bits)
//   bytes   := length:long byte{length}          string is the same, in UTF-8
//   array   := block* 00      block := count:long item{count} | -count:long size:long item{count}
//   map     := array of (key:string item)
//   union   := branch:long value
//   enum    := index:long; fixed := byte{size}; boolean := 00 | 01; float, double: IEEE 754, little endian
//
// Cost: inline for one-byte varints. Threads: free functions, safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "decode/decode_error.h"

namespace kafscope {

enum class AvroFault : uint8_t {
  kNone,
  kTruncated,
  kTrailingBytes,
  kBadVarint,
  kIntRange,
  kBadBoolean,
  kNegativeLength,
  kBadCount,
  kEnumIndex,
  kUnionBranch,
  kTooDeep,
  kTooManyEmpty,
  kTooLarge,
};
// The reason and text of an error row. `position`: bytes from the start of the value.
DecodeError AvroError(AvroFault fault, uint64_t position);

struct AvroCursor {
  const uint8_t* at;
  const uint8_t* end;
  size_t left() const { return static_cast<size_t>(end - at); }
};

struct AvroVarint {
  const uint8_t* at;  // behind the varint; null: none here
  uint64_t raw;
};
// REQUIRES: nothing. The general case of ReadVarint.
AvroVarint ReadLongVarint(const uint8_t* at, const uint8_t* end);
// Why there is no varint at `at`.
AvroFault VarintFault(const uint8_t* at, const uint8_t* end);

inline AvroVarint ReadVarint(const uint8_t* at, const uint8_t* end) {
  if (at < end && *at < 0x80) [[likely]]
    return {at + 1, *at};
  return ReadLongVarint(at, end);
}
inline int64_t ZigZag(uint64_t raw) { return static_cast<int64_t>(raw >> 1 ^ (0 - (raw & 1))); }

inline AvroFault ReadLong(AvroCursor& cursor, int64_t* value) {
  const AvroVarint varint = ReadVarint(cursor.at, cursor.end);
  if (varint.at == nullptr) [[unlikely]]
    return VarintFault(cursor.at, cursor.end);
  cursor.at = varint.at;
  *value = ZigZag(varint.raw);
  return AvroFault::kNone;
}

inline AvroFault ReadInt(AvroCursor& cursor, int32_t* value) {
  int64_t wide = 0;
  const uint8_t* start = cursor.at;
  if (const AvroFault fault = ReadLong(cursor, &wide); fault != AvroFault::kNone) [[unlikely]]
    return fault;
  *value = static_cast<int32_t>(wide);
  if (*value != wide) [[unlikely]] {
    cursor.at = start;
    return AvroFault::kIntRange;
  }
  return AvroFault::kNone;
}

inline AvroFault ReadRaw(AvroCursor& cursor, size_t size, std::string_view* value) {
  if (size > cursor.left()) [[unlikely]]
    return AvroFault::kTruncated;
  *value = {reinterpret_cast<const char*>(cursor.at), size};
  cursor.at += size;
  return AvroFault::kNone;
}

inline AvroFault ReadBytes(AvroCursor& cursor, std::string_view* value) {
  const uint8_t* start = cursor.at;
  int64_t size = 0;
  if (const AvroFault fault = ReadLong(cursor, &size); fault != AvroFault::kNone) [[unlikely]]
    return fault;
  if (size < 0) [[unlikely]] {
    cursor.at = start;
    return AvroFault::kNegativeLength;
  }
  return ReadRaw(cursor, static_cast<size_t>(size), value);
}

inline AvroFault ReadBoolean(AvroCursor& cursor, bool* value) {
  if (cursor.at == cursor.end) [[unlikely]]
    return AvroFault::kTruncated;
  if (*cursor.at > 1) [[unlikely]]
    return AvroFault::kBadBoolean;
  *value = *cursor.at++ != 0;
  return AvroFault::kNone;
}

inline AvroFault ReadFloat(AvroCursor& cursor, float* value) {
  if (cursor.left() < sizeof *value) [[unlikely]]
    return AvroFault::kTruncated;
  std::memcpy(value, cursor.at, sizeof *value);
  cursor.at += sizeof *value;
  return AvroFault::kNone;
}

inline AvroFault ReadDouble(AvroCursor& cursor, double* value) {
  if (cursor.left() < sizeof *value) [[unlikely]]
    return AvroFault::kTruncated;
  std::memcpy(value, cursor.at, sizeof *value);
  cursor.at += sizeof *value;
  return AvroFault::kNone;
}

// Reads an index below `count`: an enum symbol or a union branch.
inline AvroFault ReadIndex(AvroCursor& cursor, size_t count, AvroFault fault, size_t* index) {
  const uint8_t* start = cursor.at;
  int64_t value = 0;
  if (const AvroFault bad = ReadLong(cursor, &value); bad != AvroFault::kNone) [[unlikely]]
    return bad;
  *index = static_cast<size_t>(value);
  if (*index >= count) [[unlikely]] {
    cursor.at = start;
    return fault;
  }
  return AvroFault::kNone;
}

// Reads the head of an array or map block; 0 ends it. `item_may_be_empty`: then the count is not bounded by the bytes.
AvroFault ReadBlockCount(AvroCursor& cursor, bool item_may_be_empty, uint64_t* count);

}  // namespace kafscope

// Leaves the calling function, that returns AvroFault, when `expression` is a fault.
#define KAFSCOPE_AVRO_TRY(expression)                                                                           \
  do {                                                                                                          \
    if (const ::kafscope::AvroFault fault_ = (expression); fault_ != ::kafscope::AvroFault::kNone) [[unlikely]] \
      return fault_;                                                                                            \
  } while (false)
