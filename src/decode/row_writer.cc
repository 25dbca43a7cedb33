#include "decode/row_writer.h"

namespace kafscope {

namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;

}  // namespace

RowWriter::RowWriter(const DecodeOptions& options, std::unique_ptr<KeyDecoder> key, DecodeCounters& counters)
    : options_(options), counters_(&counters), key_(std::move(key)), headers_(options), time_field_(options) {}

RowWriter::~RowWriter() = default;

void RowWriter::Attach(FrameBuilder& builder) {
  if (builder_ == &builder && generation_ == builder.generation()) return;
  builder_ = &builder;
  generation_ = builder.generation();
  // The column stands even where no record has a time yet, so that it comes first.
  time_ = options_.time_column ? builder.FindOrAddColumn(IsLongLayout(options_) ? "Time" : "time", FieldRole::kTime)
                               : nullptr;
  partition_ = options_.partition_column ? builder.FindOrAddColumn("partition", FieldRole::kPartition) : nullptr;
  if (partition_ != nullptr) partition_->SetInt32();
  offset_ = builder.FindOrAddColumn("offset", FieldRole::kOffset);
  if (key_ != nullptr) key_->Attach(builder);
  headers_.Attach(builder);
}

void RowWriter::StartRecord(const ConsumerRecord& record, int64_t arrival_ns) {
  record_ = &record;
  if (options_.time_source == TimeSource::kArrival) {
    time_ns_ = arrival_ns;
  } else if (record.timestamp_ms < 0) {
    time_ns_ = arrival_ns;
    if (arrival_ns != kNoTime) ++arrival_times_;
  } else if (record.timestamp_ms > std::numeric_limits<int64_t>::max() / kNanosPerMilli) {
    time_ns_ = kNoTime;  // after 2262: null, never a wrong time
  } else {
    time_ns_ = record.timestamp_ms * kNanosPerMilli;
  }
}

void RowWriter::WriteMetadata() {
  if (time_ != nullptr && time_ns_ != kNoTime) time_->AppendTime(time_ns_);
  if (partition_ != nullptr) partition_->AppendInt32(record_->partition);
  offset_->AppendInt64(record_->offset);
  headers_.Append(record_->headers);
}

void RowWriter::Begin() {
  builder_->BeginRow();
  time_given_ = false;
  WriteMetadata();
  if (key_ != nullptr && record_->has_key) {
    key_error_ = key_->Append(*record_, *builder_, *counters_);
    if (!key_error_.ok()) {
      key_error_.reason = ErrorReason::kInvalidKey;
      WriteErrorText(key_error_);
    }
  }
}

bool RowWriter::BeginRun(uint32_t rows, const int64_t* time) {
  const bool time_from_field = time_field_.wanted() && time == nullptr;
  if (key_ != nullptr || options_.headers != HeaderMode::kNone || time_from_field) return false;
  builder_->BeginRun(rows);
  const int64_t row_time = time != nullptr ? *time : time_ns_;
  if (time_ != nullptr && row_time != kNoTime) time_->AppendTimeRun(row_time, rows);
  if (partition_ != nullptr) partition_->AppendInt32Run(record_->partition, rows);
  offset_->AppendInt64Run(record_->offset, rows);
  return true;
}

void RowWriter::EndRun(uint32_t rows) {
  builder_->EndRun(rows);
  counters_->rows += rows;
}

void RowWriter::SetTime(int64_t nanoseconds) {
  time_given_ = true;
  if (time_ != nullptr) time_->AppendTime(nanoseconds);
}

void RowWriter::Commit() {
  if (time_field_.wanted() && !time_given_ && time_ != nullptr) {
    if (const auto time = time_field_.Read(*builder_); time.has_value()) time_->AppendTime(*time);
  }
  builder_->CommitRow();
  ++counters_->rows;
}

void RowWriter::Fail(const DecodeError& error) {
  if (builder_->in_row()) {
    builder_->AbortRow();
    Attach(*builder_);
  }
  builder_->BeginRow();
  WriteMetadata();
  if (key_ != nullptr && record_->has_key) {
    // The value's error is the one that is told; a bad key only leaves its columns null.
    const DecodeError key_error = key_->Append(*record_, *builder_, *counters_);
    static_cast<void>(key_error);
  }
  WriteErrorText(error);
  builder_->CommitRow();
  ++counters_->rows;
}

void RowWriter::WriteErrorText(const DecodeError& error) {
  builder_->FindOrAddColumn("error", FieldRole::kError)->AppendString(error.ToString());
  ++counters_->errors[static_cast<size_t>(error.reason)];
  ++builder_->stats().error_rows;
}

std::vector<std::string> RowWriter::notes() const {
  std::vector<std::string> notes;
  if (key_ != nullptr) notes = key_->notes();
  if (std::string note = time_field_.note(); !note.empty()) notes.push_back(std::move(note));
  if (arrival_times_ > 0) {
    notes.push_back(std::to_string(arrival_times_) + " records had no timestamp: their arrival time is shown");
  }
  return notes;
}

}  // namespace kafscope
