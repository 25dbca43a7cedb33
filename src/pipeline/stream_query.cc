#include "pipeline/stream_query.h"

#include <openssl/sha.h>

#include <array>

namespace kafscope {

namespace {

// Each part with its length, so that no two lists of parts give the same bytes.
void Put(std::string* out, const std::string& text) {
  out->append(std::to_string(text.size()));
  out->push_back(':');
  out->append(text);
}
void Put(std::string* out, int64_t number) { Put(out, std::to_string(number)); }
void Put(std::string* out, const std::vector<std::string>& texts) {
  Put(out, static_cast<int64_t>(texts.size()));
  for (const std::string& text : texts) Put(out, text);
}
void Put(std::string* out, const SchemaSource& schema) {
  Put(out, schema.text);
  Put(out, schema.descriptor_set);
  Put(out, schema.include_dirs);
  Put(out, schema.file_name);
  Put(out, schema.message);
}

void Put(std::string* out, const DecodeOptions& decode) {
  Put(out, static_cast<int64_t>(decode.format));
  Put(out, static_cast<int64_t>(decode.key_format));
  Put(out, static_cast<int64_t>(decode.headers));
  Put(out, decode.header_names);
  Put(out, decode.max_depth);
  Put(out, static_cast<int64_t>(decode.time_source));
  Put(out, decode.time_field);
  Put(out, static_cast<int64_t>(decode.time_unit));
  Put(out, static_cast<int64_t>(decode.text));
  Put(out, static_cast<int64_t>(decode.framing));
  Put(out, decode.value_schema);
  Put(out, decode.key_schema);
  Put(out, decode.partition_column ? 1 : 0);
  Put(out, decode.time_column ? 1 : 0);
  Put(out, static_cast<int64_t>(decode.line_layout));
  Put(out, static_cast<int64_t>(decode.line_precision));
  Put(out, decode.line_measurements);
  Put(out, decode.line_fields);
  Put(out, decode.line_tags);
}

}  // namespace

std::string StreamQuery::Fingerprint() const {
  std::string text;
  Put(&text, topic);
  Put(&text, static_cast<int64_t>(partitions.size()));
  for (const int32_t partition : partitions) Put(&text, partition);
  Put(&text, from.ToString());
  Put(&text, until.ToString());
  Put(&text, read_committed ? 1 : 0);
  Put(&text, decode);
  Put(&text, max_fields);
  Put(&text, batch.max_rows);
  Put(&text, static_cast<int64_t>(batch.max_bytes));
  Put(&text, batch.max_latency.count());

  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex.push_back(kHex[byte >> 4]);
    hex.push_back(kHex[byte & 15]);
  }
  return hex;
}

FrameBuilder::Options StreamQuery::BuilderOptions() const {
  FrameBuilder::Options options;
  options.max_rows = batch.max_rows;
  options.max_bytes = batch.max_bytes;
  options.max_fields = max_fields;
  // The long layout has a fixed order of its own.
  options.sort_value_columns = !(decode.format == Format::kLineProtocol && decode.line_layout == LineLayout::kLong);
  return options;
}

}  // namespace kafscope
