#include "grafana/history.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "decode/decoder.h"
#include "frame/widen.h"
#include "grafana/answer_frame.h"
#include "pipeline/stream_source.h"

namespace kafscope {

namespace {

constexpr size_t kRecordsPerPoll = 4096;
constexpr size_t kMaxSeries = 1000;

using Clock = std::chrono::steady_clock;

bool IsNumber(DataType type) {
  return type == DataType::kInt64 || type == DataType::kUint64 || type == DataType::kFloat64;
}

double Number(const ColumnData& column, uint32_t row) {
  switch (column.type) {
    case DataType::kInt64: return static_cast<double>(column.Int64(row));
    case DataType::kUint64: return static_cast<double>(column.Uint64(row));
    default: return column.Float64(row);
  }
}

int IndexOfRole(const Schema& schema, FieldRole role) {
  for (size_t i = 0; i < schema.num_fields(); ++i) {
    if (schema.fields()[i].role == role) return static_cast<int>(i);
  }
  return -1;
}

// Rows by time; rows without one stay behind. Within one partition the order of offsets decides.
std::vector<uint32_t> OrderByTime(const Frame& frame) {
  std::vector<uint32_t> order(frame.num_rows());
  for (uint32_t row = 0; row < order.size(); ++row) order[row] = row;
  const int time = IndexOfRole(frame.schema(), FieldRole::kTime);
  if (time < 0 || frame.column(static_cast<size_t>(time)).type != DataType::kTime) return order;
  const ColumnData& times = frame.column(static_cast<size_t>(time));
  std::sort(order.begin(), order.end(), [&times](uint32_t a, uint32_t b) {
    const int64_t left = times.IsNull(a) ? INT64_MAX : times.Int64(a);
    const int64_t right = times.IsNull(b) ? INT64_MAX : times.Int64(b);
    return left != right ? left < right : a < b;
  });
  return order;
}

// The value of `field` in each of its distinct combinations, in the order of their first rows.
struct Series {
  std::map<std::string, std::string> labels;
  std::vector<uint32_t> rows;
};

Result<std::vector<Series>> SplitBySeries(const HistoryRows& rows, const PanelQuery& query) {
  if (query.series_by.empty()) return std::vector<Series>{{{}, rows.order}};
  std::vector<const ColumnData*> columns;
  for (const std::string& name : query.series_by) {
    const int index = rows.frame->schema().IndexOf(name);
    columns.push_back(index < 0 ? nullptr : &rows.frame->column(static_cast<size_t>(index)));
  }
  std::vector<Series> series;
  std::map<std::string, size_t> known;
  for (const uint32_t row : rows.order) {
    std::map<std::string, std::string> labels;
    std::string key;
    for (size_t i = 0; i < columns.size(); ++i) {
      std::string& value = labels[query.series_by[i]];
      if (columns[i] != nullptr && !columns[i]->IsNull(row)) AppendValueText(*columns[i], row, &value);
      key.append(value).push_back('\0');
    }
    const auto [found, fresh] = known.emplace(key, series.size());
    if (fresh) {
      if (series.size() >= kMaxSeries) {
        return Fail(Status::ResourceExhausted("seriesBy gives more than 1000 series: choose a field of fewer values"));
      }
      series.push_back({std::move(labels), {}});
    }
    series[found->second].rows.push_back(row);
  }
  return series;
}

// First, last, and for each numeric column the least and greatest row of every bucket of time: a spike is never lost.
std::vector<uint32_t> DownSample(const Frame& frame, const std::vector<uint32_t>& rows, const HistoryRange& range) {
  const int time = IndexOfRole(frame.schema(), FieldRole::kTime);
  const auto points = static_cast<size_t>(std::max<int64_t>(range.max_data_points, 4));
  if (range.max_data_points <= 0 || rows.size() <= points || time < 0) return rows;
  const ColumnData& times = frame.column(static_cast<size_t>(time));
  if (times.type != DataType::kTime) return rows;
  std::vector<const ColumnData*> numbers;
  for (size_t c = 0; c < frame.num_columns(); ++c) {
    const bool value = frame.schema().fields()[c].role == FieldRole::kValue;
    if (value && IsNumber(frame.column(c).type)) numbers.push_back(&frame.column(c));
  }
  const size_t per_bucket = 2 + 2 * numbers.size();
  const size_t buckets = std::max<size_t>(points / per_bucket, 1);
  std::vector<uint32_t> kept;
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    // Buckets of equal numbers of rows: where data is dense, the picture is too.
    const size_t begin = rows.size() * bucket / buckets;
    const size_t end = rows.size() * (bucket + 1) / buckets;
    if (begin == end) continue;
    std::set<size_t> chosen = {begin, end - 1};
    for (const ColumnData* column : numbers) {
      size_t least = end;
      size_t most = end;
      for (size_t i = begin; i < end; ++i) {
        if (column->IsNull(rows[i])) continue;
        if (least == end || Number(*column, rows[i]) < Number(*column, rows[least])) least = i;
        if (most == end || Number(*column, rows[i]) > Number(*column, rows[most])) most = i;
      }
      if (least != end) chosen.insert({least, most});
    }
    for (const size_t i : chosen) kept.push_back(rows[i]);
  }
  return kept;
}

double Percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const double place = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

double ReduceValues(PanelQuery::Reduce reduce, const std::vector<double>& values) {
  using Reduce = PanelQuery::Reduce;
  double sum = 0;
  for (const double value : values) sum += value;
  switch (reduce) {
    case Reduce::kSum: return sum;
    case Reduce::kAvg: return sum / static_cast<double>(values.size());
    case Reduce::kMin: return *std::min_element(values.begin(), values.end());
    case Reduce::kMax: return *std::max_element(values.begin(), values.end());
    case Reduce::kLast: return values.back();
    case Reduce::kP50: return Percentile(values, 0.5);
    case Reduce::kP90: return Percentile(values, 0.9);
    case Reduce::kP95: return Percentile(values, 0.95);
    case Reduce::kP99: return Percentile(values, 0.99);
    default: return static_cast<double>(values.size());
  }
}

// One number a series and field, as alert rules want it. No row at all: no frame ("no data").
std::vector<std::string> MakeReduced(const HistoryRows& rows, const PanelQuery& query, const HistoryRange& range,
                                     const std::vector<Series>& series) {
  std::vector<std::string> frames;
  const auto add = [&](const std::string& name, const Series& one, double value) {
    FrameBuilder builder({});
    builder.BeginRow();
    builder.FindOrAddColumn(name, FieldRole::kValue)->AppendFloat64(value);
    builder.CommitRow();
    const FramePtr number = builder.Finish();
    AnswerFrame answer{query.alias.empty() ? "" : ExpandAlias(query, ""),
                       query.ref_id,
                       R"({"type":"numeric-multi","typeVersion":[0,1]})",
                       {},
                       {0}};
    answer.fields.push_back({name, &number->column(0), one.labels, {}});
    frames.push_back(WriteArrowFile(answer));
  };
  for (const Series& one : series) {
    if (one.rows.empty()) continue;
    if (query.reduce == PanelQuery::Reduce::kCount || query.reduce == PanelQuery::Reduce::kRate) {
      const auto count = static_cast<double>(one.rows.size());
      const double seconds = std::max(static_cast<double>(range.to_ms - range.from_ms) / 1000, 0.001);
      const bool rate = query.reduce == PanelQuery::Reduce::kRate;
      add(rate ? "rate" : "count", one, rate ? count / seconds : count);
      continue;
    }
    for (size_t c = 0; c < rows.frame->num_columns(); ++c) {
      const Field& field = rows.frame->schema().fields()[c];
      const bool wanted =
          query.reduce_field.empty() ? field.role == FieldRole::kValue : field.name == query.reduce_field;
      if (!wanted || !IsNumber(field.type)) continue;
      std::vector<double> values;
      for (const uint32_t row : one.rows) {
        if (!rows.frame->column(c).IsNull(row)) values.push_back(Number(rows.frame->column(c), row));
      }
      if (!values.empty()) add(field.name, one, ReduceValues(query.reduce, values));
    }
  }
  return frames;
}

std::string MetaJson(const std::vector<std::string>& notices, uint64_t records) {
  nlohmann::json meta = {{"custom", {{"state", records == 0 ? "no_data" : "history"}, {"records", records}}}};
  for (const std::string& text : notices) meta["notices"].push_back({{"severity", "info"}, {"text", text}});
  return meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The event that explains why nothing came.
Status FailureOf(const std::vector<SourceEvent>& events) {
  for (const SourceEvent& event : events) {
    if (event.kind == SourceEvent::Kind::kFailed) return Status::Unavailable(event.message);
    if (event.kind == SourceEvent::Kind::kTopicMissing) return Status::NotFound(event.message);
    if (event.kind == SourceEvent::Kind::kDisconnected) return Status::Unavailable(event.message);
  }
  return {};
}

}  // namespace

Result<HistoryRows> ReadHistory(const Instance& instance, const PanelQuery& query, const HistoryRange& range) {
  const DataSourceSettings& settings = instance.settings();
  StreamQuery stream = query.stream;
  stream.from = {StartPosition::Kind::kTime, range.from_ms};
  stream.until = {EndPosition::Kind::kTime, range.to_ms + 1};
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Source> source, MakeKafkaStreamSource(settings.kafka, stream, nullptr));
  FrameBuilder::Options options;
  options.max_rows = settings.max_rows;
  options.max_bytes = 0;
  options.max_fields = stream.max_fields;
  options.sort_value_columns =
      !(stream.decode.format == Format::kLineProtocol && stream.decode.line_layout == LineLayout::kLong);
  FrameBuilder builder(options);
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Decoder> decoder, MakeDecoder(stream.decode));

  HistoryRows rows;
  std::vector<SourceEvent> events;
  const Clock::time_point deadline = Clock::now() + settings.query_timeout;
  ConsumerRecords records;
  bool cut = false;
  while (!source->AtEnd() && !cut && Clock::now() < deadline) {
    const auto wait = std::min(deadline, Clock::now() + std::chrono::milliseconds(50));
    KAFSCOPE_FAIL_IF_ERROR(source->Poll(kRecordsPerPoll, wait, &records));
    for (SourceEvent& event : source->TakeEvents()) events.push_back(std::move(event));
    std::span<const ConsumerRecord> left = records.records();
    while (!left.empty() && Clock::now() < deadline) {
      const size_t taken = decoder->Decode(left, records.arrival_ns, builder);
      left = left.subspan(taken);
      rows.records += taken;
      if (builder.Full()) {
        cut = !left.empty() || !source->AtEnd();
        break;
      }
      if (taken == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a schema is being fetched
    }
    if (rows.records == 0 && !FailureOf(events).ok()) return Fail(FailureOf(events));
  }
  if (rows.records == 0 && !source->AtEnd()) {
    const Status failure = FailureOf(events);
    return Fail(failure.ok() ? Status::DeadlineExceeded("no answer from the broker within queryTimeout") : failure);
  }
  if (cut) {
    rows.notices.push_back("only the first " + std::to_string(builder.num_rows()) +
                           " rows of the range are shown (maxRows of the data source)");
  } else if (!source->AtEnd()) {
    rows.notices.push_back("only what could be read in time is shown (queryTimeout of the data source)");
  }
  for (std::string& note : decoder->notes()) rows.notices.push_back(std::move(note));
  rows.frame = builder.Finish();
  rows.order = OrderByTime(*rows.frame);
  return rows;
}

Result<std::vector<std::string>> MakeAnswer(const HistoryRows& rows, const PanelQuery& query,
                                            const HistoryRange& range) {
  KAFSCOPE_ASSIGN_OR_FAIL(std::vector<Series> series, SplitBySeries(rows, query));
  if (query.reduce != PanelQuery::Reduce::kNone) return MakeReduced(rows, query, range, series);
  std::vector<std::string> frames;
  std::vector<std::string> notices = rows.notices;
  for (const Series& one : series) {
    AnswerFrame answer{query.alias.empty() ? "" : ExpandAlias(query, ""), query.ref_id, {}, {}, one.rows};
    if (query.down_sample) answer.rows = DownSample(*rows.frame, one.rows, range);
    if (answer.rows.size() < one.rows.size() && notices.size() == rows.notices.size()) {
      notices.push_back("down-sampled from " + std::to_string(rows.order.size()) +
                        " rows: first, last, least and greatest of each step");
    }
    answer.meta_json = MetaJson(notices, rows.records);
    for (size_t c = 0; c < rows.frame->num_columns(); ++c) {
      const Field& field = rows.frame->schema().fields()[c];
      const bool label = std::find(query.series_by.begin(), query.series_by.end(), field.name) != query.series_by.end();
      if (label) continue;
      const bool time = field.role == FieldRole::kTime;
      answer.fields.push_back({field.name, &rows.frame->column(c),
                               time ? std::map<std::string, std::string>() : one.labels,
                               time || query.alias.empty() ? "" : ExpandAlias(query, field.name)});
    }
    frames.push_back(WriteArrowFile(answer));
  }
  return frames;
}

}  // namespace kafscope
