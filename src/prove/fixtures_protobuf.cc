#include "prove/fixtures.h"

#include <cstring>

namespace kafscope {

namespace {

// A writer of the wire format, as plain as can be.
class Wire {
 public:
  Wire& Varint(uint32_t field, uint64_t value) {
    Raw(field << 3);
    Raw(value);
    return *this;
  }
  Wire& Double(uint32_t field, double value) {
    Raw(field << 3 | 1);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
    return *this;
  }
  Wire& Bytes(uint32_t field, std::string_view bytes) {
    Raw(field << 3 | 2);
    Raw(bytes.size());
    bytes_.append(bytes);
    return *this;
  }
  void Raw(uint64_t value) {
    for (; value > 0x7f; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

DecodeOptions OptionsOf(std::string schema) {
  DecodeOptions options;
  options.format = Format::kProtobuf;
  options.partition_column = false;
  options.time_column = false;
  options.value_schema.text = std::move(schema);
  return options;
}

constexpr const char* kThirtyFields = R"(syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Reading {
  string id = 1; int64 sequence = 2; google.protobuf.Timestamp at = 3; Site site = 4; Engine engine = 5;
  repeated int32 samples = 6; map<string, int64> tags = 7; State state = 8; optional string remark = 9; bool valid = 10;
}
message Site { string country = 1; string city = 2; double lat = 3; double lon = 4; uint32 floor = 5; }
message Engine {
  double temperature = 1; double pressure = 2; int32 rpm = 3; int64 hours = 4; bool running = 5; string mode = 6;
  sint32 trim = 7; uint64 serial = 8; float load = 9; Valve intake = 10; Valve exhaust = 11;
}
message Valve { int32 position = 1; bool stuck = 2; double lift = 3; }
enum State { IDLE = 0; RUNNING = 1; FAILED = 2; }
)";

}  // namespace

Fixture MakeProtobufFixture() {
  Fixture fixture{"protobuf",
                  OptionsOf("syntax = \"proto3\"; message M { string id = 1; double value = 2; int64 count = 3; }"),
                  {},
                  1,
                  {}};
  const auto id = [](size_t i) { return "sensor-" + std::to_string(100 + (i + 1) % 100).substr(1); };
  for (size_t i = 0; i < kFixtureRecords; ++i) {
    Wire wire;
    wire.Bytes(1, id(i)).Double(2, 21.5 + static_cast<double>(i % 8)).Varint(3, 42 + i % 64);
    fixture.records.push_back(wire.bytes());
  }
  fixture.expected_rows = [id](size_t i) {
    return std::vector<std::string>{"{\"id\":\"" + id(i) + "\",\"value\":" + std::to_string(21 + i % 8) +
                                    ".5,\"count\":" + std::to_string(42 + i % 64) + "}"};
  };
  return fixture;
}

Fixture MakeProtobufThirtyFieldsFixture() {
  Fixture fixture{"protobuf_30fields", OptionsOf(kThirtyFields), {}, 1, {}};
  for (size_t i = 0; i < kFixtureRecords; ++i) {
    const Wire at = Wire().Varint(1, 1700000000 + i);
    Wire site;
    site.Bytes(1, "DE").Bytes(2, "Hamburg").Double(3, 53.5).Double(4, 9.25).Varint(5, i % 9 + 1);
    const Wire valve = Wire().Varint(1, i % 50 + 1).Varint(2, 1).Double(3, 0.5);
    Wire engine;
    engine.Double(1, 80.5).Double(2, 2.25).Varint(3, 1500 + i % 100).Varint(4, 100000 + i).Varint(5, 1);
    engine.Bytes(6, "cruise").Varint(7, 2 * (i % 20 + 1)).Varint(8, 9000000000 + i);
    engine.Bytes(10, valve.bytes()).Bytes(11, valve.bytes());
    Wire samples;
    for (size_t s = 0; s < 4; ++s) samples.Raw(i + s);
    const Wire tag = Wire().Bytes(1, "line").Varint(2, i % 7 + 1);
    Wire wire;
    wire.Bytes(1, "engine-" + std::to_string(i % 100)).Varint(2, i + 1).Bytes(3, at.bytes()).Bytes(4, site.bytes());
    wire.Bytes(5, engine.bytes()).Bytes(6, samples.bytes()).Bytes(7, tag.bytes()).Varint(8, 1).Varint(10, 1);
    fixture.records.push_back(wire.bytes());
  }
  fixture.expected_rows = [](size_t i) {
    const auto text = [](size_t n) { return std::to_string(n); };
    const auto valve = [&](const std::string& name) {
      return ",\"engine." + name + ".position\":" + text(i % 50 + 1) + ",\"engine." + name + ".stuck\":true,\"engine." +
             name + ".lift\":0.5";
    };
    std::string samples = "[";
    for (size_t s = 0; s < 4; ++s) samples += (s > 0 ? "," : "") + text(i + s);
    return std::vector<std::string>{
        "{\"id\":\"engine-" + text(i % 100) + "\",\"sequence\":" + text(i + 1) + ",\"at\":" + text(1700000000 + i) +
        "000,\"site.country\":\"DE\",\"site.city\":\"Hamburg\",\"site.lat\":53.5,\"site.lon\":9.25,\"site.floor\":" +
        text(i % 9 + 1) + ",\"engine.temperature\":80.5,\"engine.pressure\":2.25,\"engine.rpm\":" +
        text(1500 + i % 100) + ",\"engine.hours\":" + text(100000 + i) +
        ",\"engine.running\":true,\"engine.mode\":\"cruise\",\"engine.trim\":" + text(i % 20 + 1) +
        ",\"engine.serial\":" + text(9000000000 + i) + ",\"engine.load\":0" + valve("intake") + valve("exhaust") +
        ",\"samples\":\"" + samples + "]\",\"tags\":\"{\\\"line\\\":" + text(i % 7 + 1) +
        "}\",\"state\":\"RUNNING\",\"valid\":true}"};
  };
  return fixture;
}

}  // namespace kafscope
