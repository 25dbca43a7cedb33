#include "decode/format_samples.h"

#include <string_view>

namespace kafscope {

namespace {

constexpr int kDeep = 20'000;

constexpr std::string_view kAvroSchema = R"({"type":"record","name":"R","fields":[
  {"name":"a","type":"long"},{"name":"s","type":["null","string"]},{"name":"next","type":["null","R"]},
  {"name":"list","type":{"type":"array","items":"double"}},{"name":"map","type":{"type":"map","values":"string"}}]})";

constexpr std::string_view kProtobufSchema = R"(syntax = "proto3";
message R { sint64 a = 1; optional string s = 2; R next = 3; repeated double list = 4; map<string, string> map = 5; })";

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out.push_back(static_cast<char>(byte));
  return out;
}

std::string Repeat(std::string_view part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out.append(part);
  return out;
}

std::string Varint(size_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

FormatSamples JsonSamples() {
  FormatSamples samples;
  samples.good = {R"({"a":1,"s":"text","n":{"x":[1,2],"y":null}})",
                  R"({"s":"\u00e9\n","a":-9007199254740993,"more":true})",
                  R"({ "a" : 2.5e3, "s":"longer than thirty-two bytes, so that it is copied whole" })",
                  R"({"a":3,"a":4,"s":null})",
                  "[1,{\"s\":\"\xc3\xa9\"}]",
                  "7"};
  samples.deep = R"({"a":)" + std::string(kDeep, '[') + std::string(kDeep, ']') + "}";
  return samples;
}

FormatSamples AvroSamples() {
  FormatSamples samples;
  samples.options.value_schema.text = kAvroSchema;
  const std::string leaf = Bytes({0x02, 0x02, 0x02, 'x', 0x00, 0x00, 0x00});
  const std::string outer = Bytes({0x04, 0x00, 0x02});  // a = 2, s null, next follows
  const std::string ends = Bytes({0x02, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x00, 0x02, 0x02, 'k', 0x02, 'v', 0x00});
  samples.good = {leaf, outer + leaf + ends, Bytes({0x03, 0x02, 0x00, 0x00, 0x00, 0x00})};
  samples.deep = Repeat(outer, kDeep) + leaf + Repeat(Bytes({0, 0}), kDeep);
  return samples;
}

FormatSamples ProtobufSamples() {
  FormatSamples samples;
  samples.options.value_schema.text = kProtobufSchema;
  const std::string leaf = Bytes({0x08, 0x02, 0x12, 0x01, 'x'});
  const std::string ends = Bytes({0x22, 0x08, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x2a, 0x06, 0x0a, 1, 'k', 0x12, 1, 'v'});
  const std::string outer = Bytes({0x08, 0x04, 0x1a, static_cast<int>(leaf.size())}) + leaf + ends;
  samples.good = {leaf, outer, Bytes({0x08, 0x03}) + ends, Bytes({0x08, 0x01, 0x78, 0x05})};  // an unknown field
  for (int i = 0; i < kDeep / 10; ++i) samples.deep = Bytes({0x1a}) + Varint(samples.deep.size()) + samples.deep;
  return samples;
}

FormatSamples LineProtocolSamples() {
  FormatSamples samples;
  samples.good = {"m,t=a f=1i,s=\"text\" 1700000000000000123", "m,t=b f=2i\nm,t=c f=3i,x=1.5\n",
                  "other s=\"a\\\"b\",f=4i"};
  return samples;
}

FormatSamples PlaintextSamples() {
  FormatSamples samples;
  samples.good = {"1", "text \xc3\xa9", "2 longer than thirty-two bytes, so that it is copied whole"};
  return samples;
}

}  // namespace

FormatSamples SamplesOf(Format format) {
  FormatSamples samples;
  switch (format) {
    case Format::kJson: samples = JsonSamples(); break;
    case Format::kAvro: samples = AvroSamples(); break;
    case Format::kProtobuf: samples = ProtobufSamples(); break;
    case Format::kLineProtocol: samples = LineProtocolSamples(); break;
    case Format::kPlaintext: samples = PlaintextSamples(); break;
    case Format::kAuto: break;
  }
  samples.options.format = format;
  return samples;
}

}  // namespace kafscope
