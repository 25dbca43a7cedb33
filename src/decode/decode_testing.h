// For tests of decoders: values in, rows as text out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "frame/frame_builder.h"
#include "frame/widen.h"

namespace kafscope {

// A row's columns that hold something, as text (widen.h), by name; metadata but `error` left out.
using TextRow = std::map<std::string, std::string>;

inline std::vector<ConsumerRecord> RecordsOf(const std::vector<std::string>& values) {
  std::vector<ConsumerRecord> records;
  for (const std::string& value : values) {
    ConsumerRecord record;
    record.value = value;
    record.has_value = true;
    record.offset = static_cast<int64_t>(records.size());
    record.timestamp_ms = 1'700'000'000'000;
    records.push_back(record);
  }
  return records;
}

inline std::vector<TextRow> RowsOf(const Frame& frame) {
  std::vector<TextRow> rows(frame.num_rows());
  for (size_t c = 0; c < frame.num_columns(); ++c) {
    const Field& field = frame.schema().fields()[c];
    const bool metadata =
        field.role == FieldRole::kTime || field.role == FieldRole::kPartition || field.role == FieldRole::kOffset;
    if (metadata) continue;
    for (size_t row = 0; row < frame.num_rows(); ++row) {
      if (!frame.column(c).IsNull(row)) AppendValueText(frame.column(c), row, &rows[row][field.name]);
    }
  }
  return rows;
}

// One decoder and one builder, for values that follow one another.
class DecoderUnderTest {
 public:
  explicit DecoderUnderTest(const DecodeOptions& options, FrameBuilder::Options frames = {})
      : builder_(frames), decoder_(MakeDecoder(options).value()) {}

  FramePtr Decode(const std::vector<ConsumerRecord>& records) {
    std::span<const ConsumerRecord> left = records;
    while (!left.empty()) {
      const size_t taken = decoder_->Decode(left, kArrival, builder_);
      left = left.subspan(taken);
      if (taken == 0) break;
    }
    return builder_.Finish();
  }
  std::vector<TextRow> Rows(const std::vector<std::string>& values) { return RowsOf(*Decode(RecordsOf(values))); }
  TextRow Row(const std::string& value) { return Rows({value}).at(0); }
  const DecodeCounters& counters() const { return decoder_->counters(); }
  Decoder& decoder() { return *decoder_; }
  FrameBuilder& builder() { return builder_; }

  static constexpr int64_t kArrival = 1'800'000'000'000'000'000;

 private:
  FrameBuilder builder_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace kafscope
