// Any bytes through any format: every record is accounted for, and the frames are texts and streams that hold together.
//
//   input  := format options record*        (one byte each but the records)
//   record := size bytes                    (one byte; 255: a tombstone)
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decoder.h"
#include "decode/format_samples.h"
#include "encode/arrow_ipc_encoder.h"
#include "encode/grafana_json_encoder.h"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

kafscope::DecodeOptions OptionsOf(kafscope::Format format, uint8_t bits) {
  using kafscope::KeyFormat;
  constexpr KeyFormat kKeys[] = {KeyFormat::kNone, KeyFormat::kString, KeyFormat::kJson, KeyFormat::kInt};
  kafscope::DecodeOptions options = kafscope::SamplesOf(format).options;
  options.key_format = kKeys[bits & 3];
  options.max_depth = (bits & 4) != 0 ? 2 : 5;
  options.text = (bits & 8) != 0 ? kafscope::TextMode::kHex : kafscope::TextMode::kUtf8;
  options.line_layout = (bits & 16) != 0 ? kafscope::LineLayout::kLong : kafscope::LineLayout::kWide;
  if ((bits & 32) != 0) {
    options.time_source = kafscope::TimeSource::kField;
    options.time_field = "a";
  }
  return options;
}

std::vector<kafscope::ConsumerRecord> RecordsOf(std::string_view bytes) {
  std::vector<kafscope::ConsumerRecord> records;
  while (!bytes.empty()) {
    const auto size = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    kafscope::ConsumerRecord record;
    record.offset = static_cast<int64_t>(records.size());
    record.timestamp_ms = record.offset - 1;
    record.has_value = size != 255;
    record.value = record.has_value ? bytes.substr(0, size) : std::string_view();
    bytes.remove_prefix(record.value.size());
    record.has_key = true;
    record.key = record.value.substr(0, 8);
    records.push_back(record);
  }
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto table = kafscope::DecoderTable();
  const kafscope::Format format = table[data[0] % table.size()].format;
  const kafscope::DecodeOptions options = OptionsOf(format, data[1]);
  const std::vector<char> bytes(data + 2, data + size);
  const auto records = RecordsOf({bytes.data(), bytes.size()});
  auto decoder = kafscope::MakeDecoder(options).value();
  kafscope::FrameBuilder::Options frames{.max_rows = 4, .max_fields = 50};
  frames.sort_value_columns = kafscope::SortsValueColumns(options);
  kafscope::FrameBuilder builder(frames);
  kafscope::GrafanaJsonEncoder json;
  kafscope::ArrowIpcEncoder arrow;
  std::string stream;
  uint64_t rows = 0;
  uint64_t version = 0;
  size_t columns = 0;
  for (std::span<const kafscope::ConsumerRecord> left = records; !left.empty();) {
    const size_t taken = decoder->Decode(left, 1, builder);
    Require(taken > 0, "no record taken");
    left = left.subspan(taken);
    const kafscope::FramePtr frame = builder.Finish();
    rows += frame->num_rows();
    Require(frame->schema().version() >= version && frame->num_columns() >= columns, "a stream's columns break");
    version = frame->schema().version();
    columns = frame->num_columns();
    std::string text;
    json.Encode(*frame, &text);
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    Require(!parsed.is_discarded(), "frame is no JSON");
    for (const auto& values : parsed.at("data").at("values"))
      Require(values.size() == frame->num_rows(), "a short column");
    arrow.Encode(*frame, &stream);
  }
  Require(decoder->counters().records == records.size(), "records");
  Require(decoder->counters().rows == rows, "rows");
  Require(rows + decoder->counters().filtered >= records.size(), "a record without a row");
  return 0;
}
