// The wire format of schema registries: how a record names the schema of its key or value.
//
//   prefix   := 00 id:be32                 in front of the payload
//   header   := 00 id:be32 indexes?        value of the record header __value_schema_id or __key_schema_id;
//             | 01 guid:16 indexes?        the payload then has no prefix
//   indexes  := count:zigzag index:zigzag{count}      Protobuf only: path of the message type in its file;
//             | 00                                    short for [0], the first message
//
// Use: `Unframe(record.headers, value, SchemaSide::kValue, &framed)`; Protobuf then reads its indexes with
// ReadMessageIndexes() from framed.header_rest, if the schema came from a header, else from framed.payload.
// Cost: no allocation. Threads: free functions, safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "source/record.h"

namespace kafscope {

enum class SchemaSide : uint8_t { kKey, kValue };

enum class WireFault : uint8_t {
  kNone,
  kEmpty,           // no byte at all
  kNotFramed,       // the first byte is not 00
  kTooShort,        // fewer than five bytes
  kBadHeader,       // a schema id header that is neither 00 + id nor 01 + GUID
  kBadIndexes,      // message indexes cut off, negative, or not a number
  kTooManyIndexes,  // more nested messages than we allow
};
// Plain text for an error row, static. For kNotFramed see NotFramedText().
std::string_view WireFaultText(WireFault fault);
// "not registry-framed: first byte 0x61"; static.
std::string_view NotFramedText(uint8_t first_byte);

// How a record names its schema.
struct SchemaRef {
  bool by_guid = false;
  int32_t id = 0;                  // !by_guid
  std::array<uint8_t, 16> guid{};  // by_guid
  // "89791762-2336-4186-9674-299b90a802e2", as registries write it. Cost: allocates.
  std::string GuidText() const;

  friend bool operator==(const SchemaRef&, const SchemaRef&) = default;
};

struct FramedPayload {
  SchemaRef schema;
  std::string_view payload;  // behind the prefix, or the whole value when a header names the schema
  bool from_header = false;
  std::string_view header_rest;  // what follows id or GUID in the header: Protobuf's message indexes
};

// Finds the schema of a key or value: by its record header if there is one, else by the prefix.
WireFault Unframe(std::span<const RecordHeader> headers, std::string_view value, SchemaSide side,
                  FramedPayload* framed);
// Reads the prefix only; `*payload` is what follows it.
WireFault ReadSchemaPrefix(std::string_view value, int32_t* id, std::string_view* payload);
// Reads the value of a schema id header; `*rest` is what follows id or GUID.
WireFault ReadSchemaHeader(std::string_view header_value, SchemaRef* schema, std::string_view* rest);

// The path of a Protobuf message type: index in the file, then in each message around it.
struct MessageIndexes {
  static constexpr size_t kMax = 32;
  std::array<int64_t, kMax> index{};
  size_t size = 0;
  std::span<const int64_t> path() const { return {index.data(), size}; }
};
// Reads message indexes at the start of `bytes`; `*rest` is what follows. `max`: deepest nesting accepted, ≤ kMax.
WireFault ReadMessageIndexes(std::string_view bytes, MessageIndexes* indexes, std::string_view* rest,
                             size_t max = MessageIndexes::kMax);

}  // namespace kafscope
