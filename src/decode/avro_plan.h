// AvroPlan: an Avro schema compiled to a straight line of reads that write into columns.
//
//   {"a": long, "b": ["null", string], "c": {"d": ["long", "string"]}, "e": [array of int]}
//   →  kLong a; kNullable +1; kString b; kUnion → kLong c.d.long, kJump; kString c.d.string, kJump; kText e; kEnd
//
// A union with one arm beside null is a plain nullable column; with several, each arm has a column f.ARM. Records
// become columns with dots to `max_depth` names; what is deeper, arrays and maps are JSON text (avro_text.h). Cost:
// Compile() allocates; Run() does not once its buffers are warm. Threads: a plan writes to the columns of one builder,
// on its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/avro_reader.h"
#include "decode/avro_text.h"
#include "frame/column.h"
#include "schema/avro_schema.h"

namespace kafscope {

class AvroPlan {
 public:
  static constexpr size_t kMaxOps = 100'000;
  static constexpr size_t kMaxItems = 1000;  // columns item_…; further items are read and dropped

  struct Options {
    uint32_t max_depth = 5;
    std::string root_arm_prefix = "value.";  // a root that is a union of several arms: value.long, value.Order.id, …
    // The column of a path like "a.b", "" for a root without fields; null: left out (field cap), its bytes are read and
    // dropped. Must give the same column for the same path.
    std::function<Column*(const std::string& path)> column;
  };
  static Result<std::unique_ptr<AvroPlan>> Compile(std::shared_ptr<const AvroSchema> schema, const Options& options);

  // Adds columns item_0, item_1, … that this value needs and no value before did. Nothing to do unless the root is an
  // array. REQUIRES: no open row, so that AbortRow() does not take the columns back.
  void Prepare(AvroCursor cursor, AvroTextState& state) {
    if (root_array_) [[unlikely]]
      PrepareItems(cursor, state);
  }
  // Reads one value that must fill [cursor.at, cursor.end); on a fault cursor.at is where.
  // REQUIRES: Prepare(), and an open row of the columns' builder.
  AvroFault Run(AvroCursor& cursor, AvroTextState& state) const {
    state.empty_items = 0;
    const AvroFault fault = RunFrom(0, cursor, state);
    if (fault != AvroFault::kNone) [[unlikely]]
      return fault;
    return cursor.at == cursor.end ? AvroFault::kNone : AvroFault::kTrailingBytes;
  }
  // The same without columns: is this a value of the schema, to its last byte?
  AvroFault Check(AvroCursor cursor, AvroTextState& state) const;

 private:
  friend class AvroPlanCompiler;
  enum class Code : uint8_t {
    kEnd,
    kNullable,  // union of null and one arm: `branch` is the null; `target` is the operation behind the arm
    kUnion,     // `target`: first of `count` entries of jumps_
    kJump,      // to `target`
    kBoolean,
    kInt,
    kLong,
    kFloat,
    kDouble,
    kString,
    kBytes,
    kFixed,  // `count` bytes
    kEnum,   // `count` symbols of `node`
    kDate,
    kTimeOfDayInt,  // `factor` units a second
    kTimeOfDayLong,
    kInstant,       // `factor` nanoseconds a unit
    kUuid,          // 16 bytes
    kDuration,      // 12 bytes
    kDecimalBytes,  // `count`: scale; `branch`: 1 if exact text
    kDecimalFixed,
    kText,  // JSON text of `node`
    kSkip,
    kItems,  // root array: each item by its own operations
  };
  struct Op {
    Code code = Code::kEnd;
    uint8_t branch = 0;
    uint32_t count = 0;
    uint32_t target = 0;
    uint32_t node = 0;
    int64_t factor = 0;
    Column* column = nullptr;
  };

  AvroPlan(std::shared_ptr<const AvroSchema> schema, Options options)
      : options_(std::move(options)), schema_(schema), text_(std::move(schema)) {}

  // Runs from `op` to the next kEnd.
  AvroFault RunFrom(size_t op, AvroCursor& cursor, AvroTextState& state) const;
  AvroFault RunItems(AvroCursor& cursor, AvroTextState& state) const;
  void PrepareItems(AvroCursor cursor, AvroTextState& state);
  AvroFault RunText(const Op& op, AvroCursor& cursor, AvroTextState& state) const;
  AvroFault RunLogical(const Op& op, AvroCursor& cursor, AvroTextState& state) const;

  Options options_;
  std::shared_ptr<const AvroSchema> schema_;
  AvroText text_;
  std::vector<Op> ops_;
  std::vector<uint32_t> jumps_;  // operations where the arms of unions begin
  bool root_array_ = false;
  std::vector<uint32_t> items_;  // root array: where the operations of each item begin
};

}  // namespace kafscope
