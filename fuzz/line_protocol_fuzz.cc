// Any payload as line protocol: the parser, with and without its memory, equals the slow reader; the decoder survives
// it in both layouts.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "decode/line_protocol_reference.h"

namespace {

using kafscope::LineProtocolParser;
using kafscope::ReferenceField;
using kafscope::ReferencePoint;

constexpr size_t kMaxSize = 8192;  // the reference reads by regular expressions, which recurse

std::vector<ReferencePoint> ReadAll(LineProtocolParser& parser, std::string_view payload) {
  std::vector<ReferencePoint> points;
  parser.Start(payload);
  for (auto item = parser.Next(); item != LineProtocolParser::Item::kEnd; item = parser.Next()) {
    ReferencePoint& point = points.emplace_back();
    if (item == LineProtocolParser::Item::kError) {
      point.error_line = parser.error().position;
      continue;
    }
    point.measurement = parser.series().measurement;
    for (const auto& tag : parser.series().tags) point.tags.emplace_back(tag.key, tag.value);
    for (const auto& value : parser.values()) {
      ReferenceField& field = point.fields.emplace_back();
      field.key = value.name->name;
      field.kind = value.kind;
      switch (value.kind) {
        case LineProtocolParser::Kind::kFloat: field.number = value.number; break;
        case LineProtocolParser::Kind::kInt: field.integer = value.integer; break;
        case LineProtocolParser::Kind::kUint: field.unsigned_integer = value.unsigned_integer; break;
        case LineProtocolParser::Kind::kBool: field.boolean = value.boolean; break;
        case LineProtocolParser::Kind::kText: field.text = value.text; break;
      }
    }
    if (parser.has_time()) point.time = parser.time();
  }
  return points;
}

void Decode(const std::string& payload, kafscope::LineLayout layout) {
  kafscope::DecodeOptions options;
  options.format = kafscope::Format::kLineProtocol;
  options.line_layout = layout;
  auto decoder = kafscope::MakeDecoder(options);
  if (!decoder) std::abort();
  kafscope::FrameBuilder builder({});
  kafscope::ConsumerRecord record;
  record.value = payload;
  record.has_value = true;
  const kafscope::ConsumerRecord twice[] = {record, record};
  if ((*decoder)->Decode(twice, 0, builder) == 0) std::abort();
  static_cast<void>(builder.Finish());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxSize) return 0;
  static LineProtocolParser remembering(true);  // across inputs: its memory is what is tested
  LineProtocolParser forgetting(false);
  // Not a std::string's own bytes: reading beyond the end shows.
  const std::vector<char> bytes(data, data + size);
  const std::string payload(bytes.begin(), bytes.end());
  const auto expected = kafscope::ReferenceLines(payload);
  const std::string_view view(bytes.data(), bytes.size());
  if (ReadAll(remembering, view) != expected || ReadAll(forgetting, view) != expected) {
    std::fprintf(stderr, "differs from the reference\n");
    std::abort();
  }
  Decode(payload, kafscope::LineLayout::kWide);
  Decode(payload, kafscope::LineLayout::kLong);
  return 0;
}
