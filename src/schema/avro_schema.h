// AvroSchema: a parsed .avsc text, ready to compile a decode plan from.
//
// Use: `AvroSchema::Parse(text, references)`; references are texts whose named types `text` uses (a registry's
// references, dependencies first). Types are nodes in one array; a use of a named type is the index of its definition,
// so recursive types are cycles. Comments in the JSON are allowed, as in Java's parser; unknown attributes, doc, order,
// aliases and defaults are ignored: a record is read by the schema it was written with, which needs none of them. A
// logical type that is unknown or does not fit its base type is ignored too, as the specification demands.
// Errors: kInvalidArgument, "line 3, column 9: …" where the place is known.
// Cost: allocates; off the hot path. Bounds: kMaxTextSize, kMaxNodes, kMaxDepth. Threads: immutable once parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kafscope {

enum class AvroType : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kRecord,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kFixed,
};
std::string_view AvroTypeName(AvroType type);  // "long", "record", …

enum class AvroLogicalType : uint8_t {
  kNone,
  kDecimal,
  kUuid,
  kDate,
  kTimeMillis,
  kTimeMicros,
  kTimestampMillis,  // local-timestamp-… is read as if it were UTC: it has no zone
  kTimestampMicros,
  kTimestampNanos,
  kDuration,
};

struct AvroNode {
  struct Field {
    std::string name;
    uint32_t node = 0;
  };
  AvroType type = AvroType::kNull;
  AvroLogicalType logical = AvroLogicalType::kNone;
  bool can_be_empty = false;         // a value may take no byte at all
  uint32_t precision = 0;            // kDecimal
  uint32_t scale = 0;                // kDecimal
  uint32_t size = 0;                 // kFixed
  std::string name;                  // full name of a record, enum or fixed
  std::vector<Field> fields;         // kRecord
  std::vector<std::string> symbols;  // kEnum
  std::vector<uint32_t> branches;    // kUnion: the arms; kArray, kMap: the type of the items
};

class AvroSchema {
 public:
  static constexpr size_t kMaxTextSize = 4 << 20;
  static constexpr size_t kMaxNodes = 50000;
  static constexpr size_t kMaxDepth = 200;

  static Result<std::shared_ptr<const AvroSchema>> Parse(std::string_view text,
                                                         std::span<const std::string_view> references = {});

  const AvroNode& node(uint32_t index) const { return nodes_[index]; }
  const AvroNode& root() const { return nodes_[root_]; }
  uint32_t root_index() const { return root_; }
  size_t num_nodes() const { return nodes_.size(); }

  // The specification's parsing canonical form, and its CRC-64-AVRO fingerprint.
  std::string CanonicalForm() const;
  uint64_t Fingerprint() const;

 private:
  friend class AvroSchemaParser;
  AvroSchema() = default;

  std::vector<AvroNode> nodes_;
  uint32_t root_ = 0;
};

uint64_t Crc64Avro(std::string_view bytes);

}  // namespace kafscope
