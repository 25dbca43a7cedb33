// DecodeOptions: how the bytes of a record become columns. A plain struct, filled and checked at the edge (command
// line, WebSocket query, Grafana query), then constant.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kafscope {

class SchemaStore;  // schema/schema_store.h: schemas by id, from a registry; shared

enum class Format : uint8_t { kJson, kPlaintext, kAvro, kProtobuf, kLineProtocol, kAuto };
enum class KeyFormat : uint8_t { kNone, kString, kJson, kBase64, kInt, kAvro, kProtobuf };
enum class HeaderMode : uint8_t { kNone, kAll, kNamed };
enum class Framing : uint8_t { kDefault, kNone, kConfluent, kAuto };  // kDefault: by format and registry, see values.md
enum class TextMode : uint8_t { kUtf8, kHex, kBase64 };
enum class TimeSource : uint8_t { kRecord, kArrival, kField };
enum class TimeUnit : uint8_t { kAuto, kSeconds, kMilliseconds, kMicroseconds, kNanoseconds, kRfc3339 };
enum class LineLayout : uint8_t { kWide, kLong };

struct SchemaSource {
  std::string text;                       // .avsc or .proto text; empty: from the registry
  std::string descriptor_set;             // protobuf: serialised FileDescriptorSet instead of text
  std::vector<std::string> include_dirs;  // protobuf: -I (command line only)
  std::string file_name;                  // for messages
  std::string message;                    // protobuf: full or short name; empty: first message, or the message index
  bool empty() const { return text.empty() && descriptor_set.empty(); }
};

struct DecodeOptions {
  Format format = Format::kJson;
  KeyFormat key_format = KeyFormat::kNone;
  HeaderMode headers = HeaderMode::kNone;
  std::vector<std::string> header_names;  // kNamed
  uint32_t max_depth = 5;                 // 1…64: deeper parts are JSON text
  TimeSource time_source = TimeSource::kRecord;
  std::string time_field;  // kField: name of a value column
  TimeUnit time_unit = TimeUnit::kAuto;
  TextMode text = TextMode::kUtf8;  // plaintext
  Framing framing = Framing::kDefault;
  SchemaSource value_schema;
  SchemaSource key_schema;
  std::shared_ptr<SchemaStore> schemas;  // null: no registry
  bool partition_column = true;          // more than one partition is read
  bool time_column = true;
  // Line protocol.
  LineLayout line_layout = LineLayout::kWide;
  TimeUnit line_precision = TimeUnit::kAuto;
  std::vector<std::string> line_measurements;  // filters; empty: all
  std::vector<std::string> line_fields;
  std::vector<std::string> line_tags;
};

// Line protocol in layout `long`: the columns that dashboards of the existing Kafka data source know, `Time` among
// them.
inline bool IsLongLayout(const DecodeOptions& options) {
  return options.format == Format::kLineProtocol && options.line_layout == LineLayout::kLong;
}
// FrameBuilder::Options::sort_value_columns for these options.
inline bool SortsValueColumns(const DecodeOptions& options) { return !IsLongLayout(options); }

}  // namespace kafscope
