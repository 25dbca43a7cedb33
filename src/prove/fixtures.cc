#include "prove/fixtures.h"

#include <algorithm>
#include <array>
#include <random>

namespace kafscope {

namespace {

DecodeOptions OptionsOf(Format format) {
  DecodeOptions options;
  options.format = format;
  options.partition_column = false;
  options.time_column = false;
  return options;
}

// The value of field `field` in record `record`: the four kinds of the peer's benchmark, turning with the index.
std::string JsonValue(int field, size_t record, int fields) {
  const int turned = (field + static_cast<int>(record) * 4) % fields;
  switch (field % 4) {
    case 0: return std::to_string(turned + turned / 2) + (turned % 2 == 0 ? ".0" : ".5");
    case 1: return std::to_string(turned);
    case 2: return "\"value-" + std::to_string(turned) + "\"";
    default: return turned % 2 == 0 ? "true" : "false";
  }
}

const std::array kFixtures = {
    FixtureEntry{"plaintext", &MakePlaintextFixture},
    FixtureEntry{"json_20fields", [] { return MakeJsonFixture("json_20fields", 20, false, 1); }},
    FixtureEntry{"json_100fields", [] { return MakeJsonFixture("json_100fields", 100, false, 1); }},
    FixtureEntry{"json_20fields_shuffled", [] { return MakeJsonFixture("json_20fields_shuffled", 20, true, 1); }},
    FixtureEntry{"json_20fields_sparse", [] { return MakeJsonFixture("json_20fields_sparse", 20, false, 0.7); }},
    FixtureEntry{"avro", [] { return MakeAvroFixture("avro"); }},
    FixtureEntry{"avro_30fields", [] { return MakeAvroFixture("avro_30fields"); }},
    FixtureEntry{"avro_quickstop", [] { return MakeAvroFixture("avro_quickstop"); }},
    FixtureEntry{"avro_superhero", [] { return MakeAvroFixture("avro_superhero"); }},
    FixtureEntry{"avro_debezium", [] { return MakeAvroFixture("avro_debezium"); }},
    FixtureEntry{"lineprotocol_long", [] { return MakeLineProtocolFixture(LineLayout::kLong); }},
    FixtureEntry{"lineprotocol_wide", [] { return MakeLineProtocolFixture(LineLayout::kWide); }},
    FixtureEntry{"protobuf", &MakeProtobufFixture},
    FixtureEntry{"protobuf_30fields", &MakeProtobufThirtyFieldsFixture},
};

}  // namespace

std::span<const FixtureEntry> FixtureTable() { return kFixtures; }

Fixture MakePlaintextFixture() {
  Fixture fixture{"plaintext", OptionsOf(Format::kPlaintext), {}, 1, {}};
  for (size_t i = 0; i < kFixtureRecords; ++i) {
    const std::string second = std::to_string(100 + i % 60).substr(1);
    const std::string value = std::to_string(10 + i % 90) + "." + std::to_string(i % 10);
    fixture.records.push_back("2024-01-01T00:00:" + second + "Z sensor-01 value=" + value);
  }
  fixture.expected_rows = [records = fixture.records](size_t i) {
    return std::vector<std::string>{R"({"message":")" + records[i] + "\"}"};
  };
  return fixture;
}

Fixture MakeJsonFixture(std::string name, int fields, bool shuffled, double present) {
  Fixture fixture{std::move(name), OptionsOf(Format::kJson), {}, 1, {}};
  std::mt19937 random(20240101);
  std::uniform_real_distribution<double> chance(0, 1);
  for (size_t i = 0; i < kFixtureRecords; ++i) {
    std::vector<std::string> members;
    for (int field = 0; field < fields; ++field) {
      if (present < 1 && chance(random) >= present) continue;
      members.push_back("\"field_" + std::to_string(field) + "\":" + JsonValue(field, i, fields));
    }
    if (shuffled) std::shuffle(members.begin(), members.end(), random);
    std::string record = "{";
    for (const std::string& member : members) record.append(record.size() == 1 ? "" : ",").append(member);
    fixture.records.push_back(record + "}");
  }
  // A flat JSON object is its own row.
  fixture.expected_rows = [records = fixture.records](size_t i) { return std::vector<std::string>{records[i]}; };
  return fixture;
}

}  // namespace kafscope
