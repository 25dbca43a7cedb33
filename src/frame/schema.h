// Schema, Field and DataType: what the columns of a frame are.
//
// A Schema is ordered, immutable and versioned. Within one stream a later version only appends fields or widens types:
// fields never disappear and never move, so a panel keeps its columns. Fields stand in display order: time, partition,
// offset, key columns, header columns, value columns (sorted by name in the first frame), error, and what came later.
//
// Threads: immutable after construction, shared by shared_ptr<const Schema>.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kafscope {

// Widening goes from left to right (docs/values.md prints the table of pairs): null < bool | int64 | uint64 | time <
// float64 < string. Bytes stay bytes until something else joins them. kInt32 is for metadata (partition) only.
enum class DataType : uint8_t {
  kNull,  // no value seen yet; nothing but nulls
  kBool,  // bit-packed as Arrow does
  kInt32,
  kInt64,
  kUint64,
  kFloat64,
  kTime,    // int64 nanoseconds since 1970-01-01T00:00:00Z
  kString,  // valid UTF-8
  kBytes,
};

std::string_view DataTypeName(DataType type);  // "int64", "time", …

// What a field is for. Encoders and pages use it; names are already free of clashes.
enum class FieldRole : uint8_t { kTime, kPartition, kOffset, kKey, kHeader, kValue, kError };

struct Field {
  std::string name;
  DataType type = DataType::kNull;
  FieldRole role = FieldRole::kValue;
  // The column held an integer beyond ±2^53 at some time in this stream: Grafana's `wide_integers = text`.
  bool wide_integers = false;

  friend bool operator==(const Field&, const Field&) = default;
};

class Schema {
 public:
  Schema(std::vector<Field> fields, uint64_t version) : fields_(std::move(fields)), version_(version) {}

  const std::vector<Field>& fields() const { return fields_; }
  size_t num_fields() const { return fields_.size(); }
  // Rises by at least one with every change inside a stream; 1 is the first.
  uint64_t version() const { return version_; }
  // Index of the field with this name, or -1. Cost: linear; for tests and set-up.
  int IndexOf(std::string_view name) const;

 private:
  std::vector<Field> fields_;
  uint64_t version_;
};

}  // namespace kafscope
