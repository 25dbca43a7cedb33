// RowWriter writes what every format has in common around the values of a row: time, partition, offset, key, headers,
// and the error row. A format's engine is given one per record:
//
//   class FooEngine {                                        // a "payload engine": no virtual calls, one per stream
//    public:
//     static Result<std::unique_ptr<FooEngine>> Make(const DecodeOptions&, ValueScope scope);   // options outlive it
//     void Attach(FrameBuilder&);          // a builder is new, or AbortRow() took columns back: drop cached Column*
//     // Writes the rows of one payload: Begin(), values, Commit() for each row, or Fail() — at least one of them (or
//     // counts it as filtered). False, before any Begin(): its schema is being fetched, the record waits.
//     bool Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows);
//     std::vector<std::string> notes() const;
//   };
//   decoder_table.cc: {Format::kFoo, "foo", "…", &MakeEngineDecoder<FooEngine>}     (engine_decoder.h)
//
// EngineDecoder<Engine> owns the loop over records, tombstones, counters and the builder; RowWriter is its hand.
// Threads: the consume thread.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decode_error.h"
#include "decode/decode_options.h"
#include "decode/decoder.h"
#include "decode/header_columns.h"
#include "decode/key_decoder.h"
#include "decode/time_field.h"
#include "frame/frame_builder.h"
#include "source/record.h"

namespace kafscope {

// Stands for a time that is not there: neither a record timestamp nor an arrival time (`decode`).
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

class RowWriter {
 public:
  // `key` may be null. REQUIRES: options and counters outlive the writer.
  RowWriter(const DecodeOptions& options, std::unique_ptr<KeyDecoder> key, DecodeCounters& counters);
  ~RowWriter();

  // --- for engines ---
  FrameBuilder& builder() { return *builder_; }
  DecodeCounters& counters() { return *counters_; }
  // Opens a row and writes time, partition, offset, key and headers.
  void Begin();
  // The row's time is the payload's own (line protocol); wins over the record's.
  void SetTime(int64_t nanoseconds);
  // The record's time in nanoseconds, kNoTime if it has none.
  int64_t record_time() const { return time_ns_; }
  void Commit();
  // Opens `rows` rows that share all that is not the engine's; `time` is as in SetTime(), or null. False, and nothing
  // is done, where rows must come one by one: keys, headers or a time field are wanted.
  bool BeginRun(uint32_t rows, const int64_t* time);
  void NextRow() { builder_->NextRow(); }
  void EndRun(uint32_t rows);
  // Takes the open row back, if any, and writes an error row in its place; counts it by reason.
  void Fail(const DecodeError& error);
  // The same for an error whose words are put together by the caller.
  void Fail(ErrorReason reason, uint64_t position, std::string_view text) { Fail(DecodeError{reason, position, text}); }

  // --- for EngineDecoder ---
  void Attach(FrameBuilder& builder);
  void StartRecord(const ConsumerRecord& record, int64_t arrival_ns);
  // The key's schema is being fetched: the record waits.
  bool KeyWaiting() { return key_ != nullptr && record_->has_key && key_->Waiting(*record_); }
  std::vector<std::string> notes() const;

 private:
  void WriteMetadata();
  void WriteErrorText(const DecodeError& error);

  const DecodeOptions& options_;
  DecodeCounters* counters_;
  FrameBuilder* builder_ = nullptr;
  uint64_t generation_ = 0;
  const ConsumerRecord* record_ = nullptr;
  int64_t time_ns_ = kNoTime;
  bool time_given_ = false;  // SetTime() was called for the open row
  Column* time_ = nullptr;
  Column* partition_ = nullptr;
  Column* offset_ = nullptr;
  std::unique_ptr<KeyDecoder> key_;
  HeaderColumns headers_;
  TimeField time_field_;
  DecodeError key_error_;
  uint64_t arrival_times_ = 0;  // records whose timestamp was missing
};

}  // namespace kafscope
