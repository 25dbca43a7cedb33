#include "pipeline/query_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parse.h"
#include "decode/decoder.h"

namespace kafscope {

namespace {

// Words in the order of an enum's values.
template <typename Enum, size_t N>
Status SetWord(const std::array<std::string_view, N>& words, std::string_view value, Enum* to) {
  std::string list;
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == value) {
      *to = static_cast<Enum>(i);
      return {};
    }
    if (words[i].empty()) continue;
    list += (list.empty() ? "" : ", ") + std::string(words[i]);
  }
  return Status::InvalidArgument("'" + std::string(value) + "' is none of " + list);
}

constexpr std::array<std::string_view, 7> kKeyFormats = {"none", "string", "json", "base64", "int", "avro", "protobuf"};
constexpr std::array<std::string_view, 4> kFramings = {"default", "none", "confluent", "auto"};
constexpr std::array<std::string_view, 3> kTextModes = {"utf8", "hex", "base64"};
constexpr std::array<std::string_view, 6> kTimeUnits = {"auto", "s", "ms", "us", "ns", "rfc3339"};
constexpr std::array<std::string_view, 5> kPrecisions = {"auto", "s", "ms", "us", "ns"};
constexpr std::array<std::string_view, 2> kLayouts = {"wide", "long"};
constexpr std::array<std::string_view, 2> kIsolations = {"read_uncommitted", "read_committed"};

template <typename T>
Status SetNumber(std::string_view value, uint64_t min, uint64_t max, T* to) {
  const Result<uint64_t> number = ParseUnsigned(value, min, max);
  if (!number) return number.error();
  *to = static_cast<T>(*number);
  return {};
}

void SetList(std::string_view value, std::vector<std::string>* to) {
  to->clear();
  for (const std::string_view part : SplitText(value, ',')) {
    if (!part.empty()) to->emplace_back(part);
  }
}

Status SetFormat(std::string_view value, int64_t, StreamQuery* query) {
  const DecoderEntry* entry = FindDecoder(value);
  if (entry != nullptr) {
    query->decode.format = entry->format;
    return {};
  }
  std::string list;
  for (const DecoderEntry& known : DecoderTable()) list += (list.empty() ? "" : ", ") + std::string(known.name);
  return Status::InvalidArgument("'" + std::string(value) + "' is none of " + list);
}

Status SetHeaders(std::string_view value, int64_t, StreamQuery* query) {
  DecodeOptions& decode = query->decode;
  decode.header_names.clear();
  if (value.empty() || value == "none") {
    decode.headers = HeaderMode::kNone;
  } else if (value == "all") {
    decode.headers = HeaderMode::kAll;
  } else {
    SetList(value, &decode.header_names);
    decode.headers = HeaderMode::kNamed;
  }
  return {};
}

Status SetTime(std::string_view value, int64_t, StreamQuery* query) {
  static constexpr std::array<std::string_view, 2> kSources = {"record", "arrival"};
  return SetWord(kSources, value, &query->decode.time_source);
}

Status SetTimeField(std::string_view value, int64_t, StreamQuery* query) {
  query->decode.time_field = value;
  query->decode.time_source = value.empty() ? TimeSource::kRecord : TimeSource::kField;
  return {};
}

Status SetPartitions(std::string_view value, int64_t, StreamQuery* query) {
  query->partitions.clear();
  if (value == "all") return {};
  for (const std::string_view part : SplitText(value, ',')) {
    const Result<uint64_t> number = ParseUnsigned(part, 0, 1'000'000);
    if (!number) return number.error();
    query->partitions.push_back(static_cast<int32_t>(*number));
  }
  // The same partitions in another order are the same stream.
  std::ranges::sort(query->partitions);
  const auto repeated = std::ranges::unique(query->partitions);
  query->partitions.erase(repeated.begin(), repeated.end());
  return {};
}

Status SetFrom(std::string_view value, int64_t now_ms, StreamQuery* query) {
  Result<StartPosition> position = StartPosition::Parse(value, now_ms);
  if (!position) return position.error();
  query->from = *position;
  return {};
}

Status SetUntil(std::string_view value, int64_t now_ms, StreamQuery* query) {
  Result<EndPosition> position = EndPosition::Parse(value, now_ms);
  if (!position) return position.error();
  query->until = *position;
  return {};
}

Status SetBatchBytes(std::string_view value, int64_t, StreamQuery* query) {
  const Result<uint64_t> size = ParseSize(value);
  if (!size) return size.error();
  if (*size < 1024 || *size > (64u << 20)) return Status::InvalidArgument("must be from 1KiB to 64MiB");
  query->batch.max_bytes = *size;
  return {};
}

Status SetBatchLatency(std::string_view value, int64_t, StreamQuery* query) {
  const Result<std::chrono::nanoseconds> duration = ParseDuration(value);
  if (!duration) return duration.error();
  if (*duration > std::chrono::seconds(10)) return Status::InvalidArgument("must be at most 10s");
  query->batch.max_latency = std::chrono::duration_cast<std::chrono::microseconds>(*duration);
  return {};
}

constexpr std::array kOptions = {
    QueryOption{"format", "FORMAT", "json, plaintext, avro, protobuf, lineprotocol", true, &SetFormat},
    QueryOption{"schema", "SCHEMA", "schema of the values (.avsc or .proto)", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  query->decode.value_schema.text = value;
                  return Status();
                }},
    QueryOption{"message", "NAME", "protobuf: the message's full or short name (default: the first)", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  query->decode.value_schema.message = value;
                  return Status();
                }},
    QueryOption{"framing", "HOW",
                "none, confluent (schema id in front), auto; default: confluent with a registry, none with a schema",
                true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetWord(kFramings, value, &query->decode.framing);
                }},
    QueryOption{"key-format", "FORMAT", "none (default), string, json, base64, int, avro, protobuf", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetWord(kKeyFormats, value, &query->decode.key_format);
                }},
    QueryOption{"key-schema", "SCHEMA", "schema of the keys", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  query->decode.key_schema.text = value;
                  return Status();
                }},
    QueryOption{"key-message", "NAME", "protobuf: the key's message", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  query->decode.key_schema.message = value;
                  return Status();
                }},
    QueryOption{"headers", "NAMES", "all headers in one column, or a column for each of NAMES (a,b)", true,
                &SetHeaders},
    QueryOption{"max-depth", "N", "nested objects become columns to this depth, 1 to 64 (default 5)", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetNumber(value, 1, 64, &query->decode.max_depth);
                }},
    QueryOption{"max-fields", "N", "value columns at most, 1 to 10000 (default 1000)", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetNumber(value, 1, 10'000, &query->max_fields);
                }},
    QueryOption{"time", "SOURCE", "record (default) or arrival: where a row's time is from", true, &SetTime},
    QueryOption{"time-field", "NAME", "a row's time is the value of this column", true, &SetTimeField},
    QueryOption{"time-unit", "UNIT", "of the time field: auto (default), s, ms, us, ns, rfc3339", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetWord(kTimeUnits, value, &query->decode.time_unit);
                }},
    QueryOption{"text", "HOW", "plaintext: utf8 (default), hex, base64", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetWord(kTextModes, value, &query->decode.text);
                }},
    QueryOption{"lp-layout", "LAYOUT", "line protocol: wide (default) or long", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetWord(kLayouts, value, &query->decode.line_layout);
                }},
    QueryOption{"lp-precision", "UNIT", "line protocol: auto (default), s, ms, us, ns", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetWord(kPrecisions, value, &query->decode.line_precision);
                }},
    QueryOption{"lp-measurements", "NAMES", "line protocol: only these measurements (a,b; a*, /regex/)", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  SetList(value, &query->decode.line_measurements);
                  return Status();
                }},
    QueryOption{"lp-fields", "NAMES", "line protocol: only these fields", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  SetList(value, &query->decode.line_fields);
                  return Status();
                }},
    QueryOption{"lp-tags", "NAMES", "line protocol: only points with these tags (a, a=x, a!=x, a=/regex/)", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  SetList(value, &query->decode.line_tags);
                  return Status();
                }},
    QueryOption{"batch-rows", "N", "rows of a frame at most (default: as many as arrive in time)", true,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetNumber(value, 1, FrameBuilder::kHardMaxRows, &query->batch.max_rows);
                }},
    QueryOption{"batch-bytes", "SIZE", "bytes of a frame at most (default 256KiB)", true, &SetBatchBytes},
    QueryOption{"batch-latency", "DURATION", "a row waits at most this long for its frame (default 5ms)", false,
                &SetBatchLatency},
    QueryOption{"from", "POSITION", "latest (default), earliest, last:N a partition, time:T, offset:N", false,
                &SetFrom},
    QueryOption{"until", "POSITION", "never (default), end, time:T, count:N in total", false, &SetUntil},
    QueryOption{"partitions", "LIST", "only these (0,2); default: all, added ones too", false, &SetPartitions},
    QueryOption{"isolation", "LEVEL", "read_committed (default) or read_uncommitted", false,
                [](std::string_view value, int64_t, StreamQuery* query) {
                  return SetWord(kIsolations, value, &query->read_committed);
                }},
};

bool SameName(std::string_view option, std::string_view written) {
  return std::ranges::equal(option, written, [](char a, char b) { return a == (b == '_' ? '-' : b); });
}

}  // namespace

std::span<const QueryOption> QueryOptions() { return kOptions; }

const QueryOption* FindQueryOption(std::string_view name) {
  const auto found = std::ranges::find_if(kOptions, [&](const QueryOption& o) { return SameName(o.name, name); });
  return found == kOptions.end() ? nullptr : &*found;
}

Status SetQueryOption(std::string_view name, std::string_view value, int64_t now_ms, StreamQuery* query) {
  const QueryOption* option = FindQueryOption(name);
  if (option == nullptr) return Status::InvalidArgument("unknown option '" + std::string(name) + "'");
  return option->set(value, now_ms, query).WithContext(name);
}

Status CheckTopicName(std::string_view topic) {
  const bool legal =
      !topic.empty() && topic.size() <= 249 && topic != "." && topic != ".." && std::ranges::all_of(topic, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
      });
  if (legal) return {};
  if (topic.empty()) return Status::InvalidArgument("topic: a name is needed");
  return Status::InvalidArgument("topic: '" + std::string(topic.substr(0, 300)) +
                                 "' cannot be a topic's name: 1 to 249 letters, digits, '.', '_' and '-'");
}

Status CheckQuery(const StreamQuery& query) {
  KAFSCOPE_RETURN_IF_ERROR(CheckTopicName(query.topic));
  if (query.decode.time_unit != TimeUnit::kAuto && query.decode.time_source != TimeSource::kField) {
    return Status::InvalidArgument("time-unit: needs a time-field");
  }
  return {};
}

std::string_view FormatName(Format format) {
  for (const DecoderEntry& entry : DecoderTable()) {
    if (entry.format == format) return entry.name;
  }
  return "auto";
}

std::span<const std::string_view> KeyFormatNames() { return kKeyFormats; }

}  // namespace kafscope
