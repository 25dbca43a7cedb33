#include "prove/fixtures.h"

namespace kafscope {

namespace {

constexpr size_t kLines = 10;
constexpr size_t kFields = 5;
constexpr size_t kTags = 3;

std::string TagsOf(size_t line, std::string_view quote, std::string_view assign) {
  std::string text;
  for (size_t tag = 0; tag < kTags; ++tag) {
    text.append(",").append(quote).append("tag").append(std::to_string(tag)).append(quote).append(assign);
    text.append(quote).append("value").append(std::to_string(line % kLines)).append(quote);
  }
  return text;
}

// `cpu,tag0=value3,tag1=value3,tag2=value3 field0=0,field1=13,field2=26,field3=39,field4=52 1700000000000000013`
std::string LineOf(size_t line) {
  std::string text = "cpu" + TagsOf(line, "", "=");
  for (size_t field = 0; field < kFields; ++field) {
    text.append(field == 0 ? " " : ",").append("field").append(std::to_string(field)).append("=");
    text.append(std::to_string(line * field));
  }
  return text + " " + std::to_string(1'700'000'000'000'000'000 + line);
}

// Sub-millisecond parts stand in `nanos`, which the check does not look at.
std::string RowBegin(std::string_view time, std::string_view measurement) {
  return "{\"" + std::string(time) + "\":1700000000000,\"" + std::string(measurement) + "\":\"cpu\"";
}

std::vector<std::string> WideRows(size_t record) {
  std::vector<std::string> rows;
  for (size_t line = record * kLines; line < (record + 1) * kLines; ++line) {
    std::string row = RowBegin("time", "measurement") + TagsOf(line, "\"", ":");
    for (size_t field = 0; field < kFields; ++field) {
      row.append(",\"field").append(std::to_string(field)).append("\":").append(std::to_string(line * field));
    }
    rows.push_back(row + "}");
  }
  return rows;
}

std::vector<std::string> LongRows(size_t record) {
  std::vector<std::string> rows;
  for (size_t line = record * kLines; line < (record + 1) * kLines; ++line) {
    for (size_t field = 0; field < kFields; ++field) {
      std::string row = RowBegin("Time", "_measurement") + TagsOf(line, "\"", ":");
      row.append(",\"_field\":\"field").append(std::to_string(field)).append("\",\"value\":");
      rows.push_back(row + std::to_string(line * field) + "}");
    }
  }
  return rows;
}

}  // namespace

Fixture MakeLineProtocolFixture(LineLayout layout) {
  const bool is_long = layout == LineLayout::kLong;
  Fixture fixture{is_long ? "lineprotocol_long" : "lineprotocol_wide", {}, {}, 1, {}};
  fixture.options.format = Format::kLineProtocol;
  fixture.options.line_layout = layout;
  fixture.options.partition_column = false;
  fixture.rows_per_record = is_long ? kLines * kFields : kLines;
  for (size_t record = 0; record < kFixtureRecords; ++record) {
    std::string text;
    for (size_t line = record * kLines; line < (record + 1) * kLines; ++line) text.append(LineOf(line)).append("\n");
    fixture.records.push_back(std::move(text));
  }
  fixture.expected_rows = is_long ? LongRows : WideRows;
  return fixture;
}

}  // namespace kafscope
