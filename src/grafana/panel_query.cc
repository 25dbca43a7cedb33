#include "grafana/panel_query.h"

#include <openssl/sha.h>

#include <array>

#include "grafana/json_reader.h"
#include "pipeline/query_options.h"

namespace kafscope {

namespace {

Status SetPosition(JsonReader& reader, PanelQuery* query) {
  const std::string reset = reader.OneOf("autoOffsetReset", {"latest", "earliest", "lastN"});
  StartPosition& from = query->stream.from;
  if (reset == "earliest") from.kind = StartPosition::Kind::kEarliest;
  if (reset == "lastN") {
    from.kind = StartPosition::Kind::kLastN;
    from.value = reader.Integer("lastN", 100, 1, 1'000'000);
  }
  return {};
}

Status SetPartition(JsonReader& reader, StreamQuery* stream) {
  const std::string partition = reader.Text("partition", "all");
  if (partition == "all") return {};
  const int64_t number = reader.Integer("partition", -1, 0, INT32_MAX);
  if (number >= 0) stream->partitions.push_back(static_cast<int32_t>(number));
  return {};
}

TimeUnit LinePrecision(const std::string& name) {
  if (name == "ns") return TimeUnit::kNanoseconds;
  if (name == "us") return TimeUnit::kMicroseconds;
  if (name == "ms") return TimeUnit::kMilliseconds;
  return name == "s" ? TimeUnit::kSeconds : TimeUnit::kAuto;
}

void SetLineProtocol(JsonReader& reader, DecodeOptions* decode) {
  // A migrated query has no layout key: the long form keeps its panels working.
  decode->line_layout =
      reader.OneOf("lineProtocolLayout", {"long", "wide"}) == "wide" ? LineLayout::kWide : LineLayout::kLong;
  decode->line_precision =
      LinePrecision(reader.OneOf("lineProtocolTimestampPrecision", {"auto", "ns", "us", "ms", "s"}));
  decode->line_measurements = reader.List("lineProtocolMeasurements");
  decode->line_fields = reader.List("lineProtocolFields");
  decode->line_tags = reader.List("lineProtocolTags");
}

// Schema text of the format in use only: a query may carry what another format left behind.
Status SetSchema(JsonReader& reader, std::string_view format, bool has_registry, SchemaSource* schema) {
  const std::string prefix(format);
  const std::string source = reader.OneOf(prefix + "SchemaSource", {"schemaRegistry", "inlineSchema"});
  if (source == "inlineSchema") {
    schema->text = reader.Text(prefix + "Schema");
    schema->message = reader.Text("protobufMessage");
    if (schema->text.empty()) return Status::InvalidArgument(prefix + "Schema is empty: enter the schema's text");
  } else if (!has_registry) {
    return Status::InvalidArgument("schemaRegistryUrl is not set in the data source, and " + prefix +
                                   "SchemaSource is schemaRegistry");
  }
  return {};
}

Status SetFormat(JsonReader& reader, bool has_registry, DecodeOptions* decode) {
  const std::string format = reader.OneOf("messageFormat", {"json", "avro", "protobuf", "plaintext", "lineprotocol"});
  if (format == "plaintext") decode->format = Format::kPlaintext;
  if (format == "lineprotocol") {
    decode->format = Format::kLineProtocol;
    SetLineProtocol(reader, decode);
  }
  if (format == "avro" || format == "protobuf") {
    decode->format = format == "avro" ? Format::kAvro : Format::kProtobuf;
    return SetSchema(reader, format, has_registry, &decode->value_schema);
  }
  return {};
}

void SetKeyAndTime(JsonReader& reader, DecodeOptions* decode) {
  const std::string key = reader.OneOf("keyFormat", {"none", "string", "json", "base64", "int"});
  if (key == "string") decode->key_format = KeyFormat::kString;
  if (key == "json") decode->key_format = KeyFormat::kJson;
  if (key == "base64") decode->key_format = KeyFormat::kBase64;
  if (key == "int") decode->key_format = KeyFormat::kInt;
  if (reader.Flag("headers", false)) decode->headers = HeaderMode::kAll;
  if (reader.OneOf("timestampMode", {"message", "now", "field"}) == "now") decode->time_source = TimeSource::kArrival;
  if (std::string field = reader.Text("timeField"); !field.empty()) {
    decode->time_source = TimeSource::kField;
    decode->time_field = std::move(field);
  }
}

PanelQuery::Reduce ReduceOf(const std::string& name) {
  static constexpr std::array kNames = {"none", "count", "rate", "sum", "avg", "min",
                                        "max",  "last",  "p50",  "p90", "p95", "p99"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<PanelQuery::Reduce>(i);
  }
  return PanelQuery::Reduce::kNone;
}

void Replace(std::string* text, std::string_view what, std::string_view with) {
  for (size_t at = text->find(what); at != std::string::npos; at = text->find(what, at + with.size())) {
    text->replace(at, what.size(), with);
  }
}

}  // namespace

Result<PanelQuery> ParsePanelQuery(std::string_view json, const DataSourceSettings& settings,
                                   std::shared_ptr<SchemaStore> schemas) {
  KAFSCOPE_ASSIGN_OR_FAIL(JsonReader reader, JsonReader::Parse(json, "the query"));
  PanelQuery query;
  query.stream.topic = reader.Text("topicName");
  query.ref_id = reader.Text("refId");
  query.alias = reader.Text("alias");
  if (query.stream.topic.empty()) return Fail(Status::InvalidArgument("topicName is not set: choose a topic"));
  if (Status status = CheckTopicName(query.stream.topic); !status.ok()) return Fail(status.WithContext("topicName"));
  const std::string mode = reader.OneOf("mode", {"live", "history", "historyLive"});
  if (mode == "history") query.mode = PanelQuery::Mode::kHistory;
  if (mode == "historyLive") query.mode = PanelQuery::Mode::kHistoryLive;
  query.lookback_ms = reader.Integer("lookbackMs", 0, 0, INT64_C(10) * 365 * 86'400'000);
  DecodeOptions& decode = query.stream.decode;
  decode.max_depth = settings.max_depth;
  decode.schemas = std::move(schemas);
  query.stream.max_fields = settings.max_fields;
  KAFSCOPE_FAIL_IF_ERROR(SetPosition(reader, &query));
  KAFSCOPE_FAIL_IF_ERROR(SetPartition(reader, &query.stream));
  KAFSCOPE_FAIL_IF_ERROR(SetFormat(reader, settings.has_registry, &decode));
  SetKeyAndTime(reader, &decode);
  query.stream.read_committed = reader.OneOf("isolation", {"read_committed", "read_uncommitted"}) == "read_committed";
  query.series_by = reader.List("seriesBy");
  query.down_sample = reader.OneOf("downSampling", {"minMax", "none"}) == "minMax";
  query.reduce = ReduceOf(reader.OneOf(
      "reduce", {"none", "count", "rate", "sum", "avg", "min", "max", "last", "p50", "p90", "p95", "p99"}));
  query.reduce_field = reader.Text("reduceField");
  query.frame_interval_ms = reader.Integer("frameIntervalMs", 100, 1, 10'000);
  query.stream.batch.max_latency = std::chrono::milliseconds(query.frame_interval_ms);
  KAFSCOPE_FAIL_IF_ERROR(reader.status());
  decode.partition_column = query.stream.partitions.size() != 1;
  KAFSCOPE_FAIL_IF_ERROR(CheckQuery(query.stream));
  return query;
}

std::string PanelQuery::Path() const {
  std::string text = stream.Fingerprint();
  for (const std::string& part : {alias, ref_id, std::to_string(static_cast<int>(mode)), std::to_string(lookback_ms)}) {
    text.push_back('\0');
    text.append(part);
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string path = "v1/";
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < 20; ++i) path.append({kDigits[digest[i] >> 4], kDigits[digest[i] & 15]});
  return path;
}

std::string ExpandAlias(const PanelQuery& query, std::string_view field) {
  std::string text = query.alias;
  const auto& partitions = query.stream.partitions;
  Replace(&text, "{{topic}}", query.stream.topic);
  Replace(&text, "{{partition}}", partitions.size() == 1 ? std::to_string(partitions[0]) : "all");
  Replace(&text, "{{refid}}", query.ref_id);
  Replace(&text, "{{field}}", field);
  return text;
}

}  // namespace kafscope
