// Fixtures: the records that benchmarks decode. Made from fixed seeds; records differ by index, so that nothing can be
// cached by a record's whole bytes.
//
// A new format adds its rows to the table in fixtures.cc (one function a fixture).
// Threads: free functions, safe.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decode_options.h"

namespace kafscope {

struct Fixture {
  std::string name;
  DecodeOptions options;             // no partition and no time column: the operation is the value
  std::vector<std::string> records;  // kFixtureRecords of them unless the data is what it is
  size_t rows_per_record = 1;
  // The slow reference: the value columns of record i as JSON objects, one a row, absent ones left out or null.
  std::function<std::vector<std::string>(size_t record)> expected_rows;
};

inline constexpr size_t kFixtureRecords = 1024;

struct FixtureEntry {
  std::string_view name;
  Fixture (*make)();
};
std::span<const FixtureEntry> FixtureTable();

// Made in fixtures_FORMAT.cc.
Fixture MakePlaintextFixture();
Fixture MakeAvroFixture(std::string_view name);
Fixture MakeProtobufFixture();
Fixture MakeProtobufThirtyFieldsFixture();
Fixture MakeLineProtocolFixture(LineLayout layout);
Fixture MakeJsonFixture(std::string name, int fields, bool shuffled, double present);

}  // namespace kafscope
