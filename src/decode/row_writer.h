// RowWriter writes what every format has in common around the values of a row: time, partition, offset, key, headers,
// and the error row. A format's engine is given one per record:
//
//   class FooEngine {                                        // a "payload engine": no virtual calls, one per stream
//    public:
//     static Result<std::unique_ptr<FooEngine>> Make(const DecodeOptions&, ValueScope scope);
//     // Writes the rows of one payload: Begin(), values, Commit() for each row, or Fail() — at least one of them.
//     void Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows);
//   };
//   decoder_table.cc: {Format::kFoo, "foo", "…", &MakeEngineDecoder<FooEngine>}     (engine_decoder.h)
//
// EngineDecoder<Engine> owns the loop over records, tombstones, counters and the builder; RowWriter is its hand.
// Threads: the consume thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "decode/decode_error.h"
#include "decode/decode_options.h"
#include "decode/decoder.h"
#include "frame/frame_builder.h"
#include "source/record.h"

namespace kafscope {

class KeyDecoder;     // key_decoder.h
class HeaderColumns;  // header_columns.h

// Names for the columns of an engine: values (prefix "", role kValue) or a key ("key.", role kKey, scalar "key").
// Resolve() gives the free name by the rules of docs/values.md: a value named like a metadata column gets `value.`,
// a literal key that a path already took gets `#2`. Cost: allocates; for building plans.
struct ValueScope {
  std::string_view prefix;  // "" or "key."
  std::string_view scalar;  // name of a lone value: "value", "message", "key"
  FieldRole role = FieldRole::kValue;
};

class RowWriter {
 public:
  RowWriter(const DecodeOptions& options, DecodeCounters& counters);
  ~RowWriter();

  // --- for engines ---
  FrameBuilder& builder() { return *builder_; }
  DecodeCounters& counters() { return *counters_; }
  // Opens a row and writes time, partition, offset, key and headers.
  void Begin();
  // Replaces the row's time (payload field, line protocol).
  void SetTime(int64_t nanoseconds);
  void Commit();
  // Takes the open row back, if any, and writes an error row in its place; counts it by reason.
  void Fail(const DecodeError& error);

  // --- for EngineDecoder ---
  void Attach(FrameBuilder& builder);
  void StartRecord(const ConsumerRecord& record, int64_t arrival_ns);

 private:
  void AddMetadataColumns();

  const DecodeOptions& options_;
  DecodeCounters* counters_;
  FrameBuilder* builder_ = nullptr;
  const ConsumerRecord* record_ = nullptr;
  int64_t time_ns_ = 0;
  Column* time_ = nullptr;
  Column* partition_ = nullptr;
  Column* offset_ = nullptr;
  Column* error_ = nullptr;  // added with the first error
  std::unique_ptr<KeyDecoder> key_;
  std::unique_ptr<HeaderColumns> headers_;
};

}  // namespace kafscope
