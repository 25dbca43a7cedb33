#include "prove/workflow.h"

#include <nlohmann/json.hpp>

#include "base/perf_switches.h"
#include "encode/arrow_ipc_encoder.h"
#include "encode/grafana_json_encoder.h"
#include "encode/row_json_writer.h"

namespace kafscope {

namespace {

std::unique_ptr<FrameEncoder> MakeEncoder(BenchSink sink) {
  switch (sink) {
    case BenchSink::kNoop: return nullptr;
    case BenchSink::kGrafanaJson:
      return std::make_unique<GrafanaJsonEncoder>(GrafanaJsonOptions{.wide_integers = WideIntegers::kNumber});
    case BenchSink::kArrow: return std::make_unique<ArrowIpcEncoder>();
  }
  return nullptr;
}

// Objects equal as JSON, null and absent alike.
bool SameRow(const nlohmann::json& expected, nlohmann::json actual) {
  for (auto it = actual.begin(); it != actual.end();) it = it->is_null() ? actual.erase(it) : std::next(it);
  nlohmann::json wanted = expected;
  for (auto it = wanted.begin(); it != wanted.end();) it = it->is_null() ? wanted.erase(it) : std::next(it);
  return wanted == actual;
}

// The rows of Grafana frames, one text a line.
std::vector<nlohmann::json> RowsOfFrames(std::string_view frames) {
  std::vector<nlohmann::json> rows;
  while (!frames.empty()) {
    const size_t end = frames.find('\n');
    const nlohmann::json frame = nlohmann::json::parse(frames.substr(0, end));
    frames.remove_prefix(end == std::string_view::npos ? frames.size() : end + 1);
    const nlohmann::json& fields = frame.at("schema").at("fields");
    const nlohmann::json& values = frame.at("data").at("values");
    const size_t count = values.empty() ? 0 : values[0].size();
    for (size_t row = 0; row < count; ++row) {
      nlohmann::json object = nlohmann::json::object();
      for (size_t c = 0; c < fields.size(); ++c) object[fields[c].at("name").get<std::string>()] = values[c].at(row);
      rows.push_back(std::move(object));
    }
  }
  return rows;
}

}  // namespace

std::string_view BenchSinkName(BenchSink sink) {
  switch (sink) {
    case BenchSink::kNoop: return "noop";
    case BenchSink::kGrafanaJson: return "grafana_json";
    case BenchSink::kArrow: return "arrow";
  }
  return "noop";
}

Workflow::Workflow(const Fixture& fixture, BenchSink sink, std::unique_ptr<Decoder> decoder)
    : decoder_(std::move(decoder)), encoder_(MakeEncoder(sink)), sink_(sink) {
  FrameBuilder::Options options;
  options.max_rows = PerfDisabled(PerfSwitch::kStreamMicrobatch) ? 1 : kRowsPerFrame;
  options.sort_value_columns = fixture.options.line_layout != LineLayout::kLong;
  builder_ = std::make_unique<FrameBuilder>(options);
  for (size_t i = 0; i < fixture.records.size(); ++i) {
    ConsumerRecord record;
    record.value = fixture.records[i];
    record.has_value = true;
    record.offset = static_cast<int64_t>(i);
    record.timestamp_ms = 1'700'000'000'000 + static_cast<int64_t>(i);
    records_.push_back(record);
    totals_.in_bytes += record.value.size();
  }
  totals_.in_bytes = 0;
}

Result<std::unique_ptr<Workflow>> Workflow::Make(const Fixture& fixture, BenchSink sink) {
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Decoder> decoder, MakeDecoder(fixture.options));
  return std::unique_ptr<Workflow>(new Workflow(fixture, sink, std::move(decoder)));
}

void Workflow::Seal(std::string* keep) {
  const FramePtr frame = builder_->Finish();
  ++totals_.packets;
  totals_.rows += frame->num_rows();
  if (encoder_ == nullptr) return;
  out_.clear();
  encoder_->Encode(*frame, &out_);
  totals_.out_bytes += out_.size();
  if (keep != nullptr) keep->append(out_).append(sink_ == BenchSink::kGrafanaJson ? "\n" : "");
}

void Workflow::RunOnce(std::string* keep) {
  std::span<const ConsumerRecord> left = records_;
  while (!left.empty()) {
    const size_t taken = decoder_->Decode(left, 0, *builder_);
    for (const ConsumerRecord& record : left.first(taken)) totals_.in_bytes += record.value.size();
    totals_.records += taken;
    left = left.subspan(taken);
    if (builder_->Full()) Seal(keep);
  }
  if (builder_->num_rows() > 0) Seal(keep);
}

Status CheckFixture(const Fixture& fixture) {
  if (!fixture.expected_rows) return Status::Internal(fixture.name + ": the fixture has no reference");
  auto workflow = Workflow::Make(fixture, BenchSink::kGrafanaJson);
  if (!workflow) return workflow.error().WithContext(fixture.name);
  std::string frames;
  (*workflow)->RunOnce(&frames);
  const std::vector<nlohmann::json> rows = RowsOfFrames(frames);
  size_t row = 0;
  for (size_t record = 0; record < fixture.records.size(); ++record) {
    for (const std::string& text : fixture.expected_rows(record)) {
      if (row >= rows.size()) return Status::Internal(fixture.name + ": too few rows");
      nlohmann::json actual = rows[row++];
      actual.erase("offset");
      const nlohmann::json expected = nlohmann::json::parse(text, nullptr, false);
      if (expected.is_discarded() || !SameRow(expected, actual)) {
        return Status::Internal(fixture.name + ": record " + std::to_string(record) + " gives " + actual.dump() +
                                ", the reference " + text);
      }
    }
  }
  if (row != rows.size()) return Status::Internal(fixture.name + ": too many rows");
  return {};
}

}  // namespace kafscope
