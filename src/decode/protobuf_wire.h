// The Protobuf wire format, read side.
//
//   message := field*
//   field   := tag value                            tag := number << 3 | wire type, a varint of at most 5 bytes
//   value   := varint          wire type 0          at most 10 bytes, little end first, 7 bits each
//            | 8 bytes         wire type 1          fixed64, sfixed64, double
//            | length bytes    wire type 2          string, bytes, message, packed; a varint of at most 5 bytes, < 2^31
//            | field* end-tag  wire type 3          group; its end tag (wire type 4) has the same number
//            | 4 bytes         wire type 5          fixed32, sfixed32, float
//
// Use: each Read…() takes [at, end) and gives the place behind what it read, or null where the bytes break the format.
// Cost: a one-byte varint is a compare and a load. Threads: free functions, safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "schema/protobuf_schema.h"

namespace kafscope {

enum class ProtobufFault : uint8_t {
  kNone,
  kMalformed,     // cut off, or a varint too long
  kBadWireType,   // 6 or 7
  kBadTag,        // field number 0 or a tag of more than 5 bytes
  kBadGroup,      // an end without its start, or the other way round
  kTooDeep,       // messages nested deeper than kMaxProtobufDepth
  kInvalidUtf8,   // in a proto3 string
  kBadTimestamp,  // outside of years 1 to 9999, or nanos outside of a second
  kBadDuration,   // outside of ±10000 years, or signs that differ
  kTooLarge,      // JSON text beyond its bound
};

inline constexpr int kMaxProtobufDepth = 100;  // as protoc's parsers

const uint8_t* ReadLongVarint(const uint8_t* at, const uint8_t* end, uint64_t* value);

inline const uint8_t* ReadVarint(const uint8_t* at, const uint8_t* end, uint64_t* value) {
  if (at < end && *at < 0x80) [[likely]] {
    *value = *at;
    return at + 1;
  }
  return ReadLongVarint(at, end, value);
}

// A tag; null also for field number 0.
const uint8_t* ReadLongTag(const uint8_t* at, const uint8_t* end, uint32_t* tag);

// REQUIRES: at < end.
inline const uint8_t* ReadTag(const uint8_t* at, const uint8_t* end, uint32_t* tag) {
  const uint8_t first = *at;
  if (first >= 8 && first < 0x80) [[likely]] {
    *tag = first;
    return at + 1;
  }
  if (end - at >= 2 && first >= 0x80 && at[1] < 0x80 && at[1] > 0) [[likely]] {
    *tag = (first & 0x7fu) | uint32_t{at[1]} << 7;
    return at + 2;
  }
  return ReadLongTag(at, end, tag);
}

inline const uint8_t* ReadFixed32(const uint8_t* at, const uint8_t* end, uint32_t* value) {
  if (end - at < 4) return nullptr;
  std::memcpy(value, at, 4);
  return at + 4;
}

inline const uint8_t* ReadFixed64(const uint8_t* at, const uint8_t* end, uint64_t* value) {
  if (end - at < 8) return nullptr;
  std::memcpy(value, at, 8);
  return at + 8;
}

const uint8_t* ReadLongSize(const uint8_t* at, const uint8_t* end, uint64_t* size);

// A length and the bytes behind it.
inline const uint8_t* ReadBytes(const uint8_t* at, const uint8_t* end, std::string_view* bytes) {
  uint64_t size = 0;
  if (at < end && *at < 0x80) [[likely]] {
    size = *at++;
  } else {
    at = ReadLongSize(at, end, &size);
  }
  if (at == nullptr || size > static_cast<uint64_t>(end - at)) return nullptr;
  *bytes = {reinterpret_cast<const char*>(at), static_cast<size_t>(size)};
  return at + size;
}

// Behind the value of a field with this tag. A group goes to behind its end tag; `*content_end`, if asked for, is where
// the end tag begins (or the end of the value). `*fault` and `*fault_at` are set when the result is null.
const uint8_t* SkipValue(uint32_t tag, const uint8_t* at, const uint8_t* end, int depth, const uint8_t** content_end,
                         ProtobufFault* fault, const uint8_t** fault_at);

inline int64_t ZigZag64(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1))); }
inline int32_t ZigZag32(uint32_t value) { return static_cast<int32_t>((value >> 1) ^ (0 - (value & 1))); }

inline double FloatOf(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}
inline double DoubleOf(uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// True for text of ASCII only; false says nothing but "look closer". Cost: 8 bytes at a time.
inline bool IsAscii(std::string_view text) {
  constexpr uint64_t kHigh = 0x8080808080808080;
  const char* at = text.data();
  size_t size = text.size();
  uint64_t word = 0;
  uint64_t all = 0;
  for (; size >= 8; size -= 8, at += 8) {
    std::memcpy(&word, at, 8);
    all |= word;
  }
  if (size >= 4) {
    uint32_t half = 0;
    std::memcpy(&half, at, 4);
    all |= half;
    std::memcpy(&half, at + size - 4, 4);
    all |= half;
  } else {
    for (; size > 0; --size) all |= static_cast<uint8_t>(*at++);
  }
  return (all & kHigh) == 0;
}

}  // namespace kafscope
