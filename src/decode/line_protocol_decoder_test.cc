#include "decode/line_protocol_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode/decoder.h"
#include "frame/widen.h"

namespace kafscope {
namespace {

struct Decoded {
  std::vector<std::string> rows;  // `name=value` of each column that has one, in frame order
  std::string names;              // of all columns
  DecodeCounters counters;
  std::vector<std::string> notes;
  FramePtr frame;
};

Decoded Decode(DecodeOptions options, const std::vector<std::string>& payloads) {
  options.format = Format::kLineProtocol;
  Decoded decoded;
  auto decoder = MakeDecoder(options);
  if (!decoder) {
    decoded.rows.push_back(decoder.error().ToString());
    return decoded;
  }
  FrameBuilder builder({.sort_value_columns = SortsValueColumns(options)});
  std::vector<ConsumerRecord> records(payloads.size());
  for (size_t i = 0; i < payloads.size(); ++i) {
    records[i].value = payloads[i];
    records[i].has_value = true;
    records[i].offset = static_cast<int64_t>(i);
    records[i].timestamp_ms = 5;
  }
  EXPECT_EQ((*decoder)->Decode(records, 0, builder), records.size());
  decoded.frame = builder.Finish();
  for (const Field& field : decoded.frame->schema().fields()) decoded.names += field.name + " ";
  for (size_t row = 0; row < decoded.frame->num_rows(); ++row) {
    std::string& text = decoded.rows.emplace_back();
    for (size_t i = 0; i < decoded.frame->num_columns(); ++i) {
      const Field& field = decoded.frame->schema().fields()[i];
      if (field.role == FieldRole::kPartition || field.role == FieldRole::kOffset) continue;
      if (decoded.frame->column(i).IsNull(row)) continue;
      text += field.name + "=";
      AppendValueText(decoded.frame->column(i), row, &text);
      text += " ";
    }
  }
  decoded.counters = (*decoder)->counters();
  decoded.notes = (*decoder)->notes();
  return decoded;
}

DecodeOptions Long() {
  DecodeOptions options;
  options.line_layout = LineLayout::kLong;
  return options;
}

using Rows = std::vector<std::string>;

TEST(LineProtocolDecoder, WideGivesARowAPoint) {
  const Decoded decoded = Decode({}, {"cpu,host=a f=1.5,i=2i,s=\"x\",b=t 1700000000000000123\ncpu,zone=z f=2"});
  EXPECT_EQ(decoded.rows, (Rows{"time=2023-11-14T22:13:20.000000123Z b=true f=1.5 host=a i=2 measurement=cpu s=x ",
                                "time=1970-01-01T00:00:00.005Z f=2 measurement=cpu zone=z "}));
  EXPECT_EQ(decoded.frame->schema().fields()[static_cast<size_t>(decoded.frame->schema().IndexOf("i"))].type,
            DataType::kInt64);
  EXPECT_EQ(decoded.counters.rows, 2u);
  EXPECT_EQ(decoded.counters.records, 1u);
}

TEST(LineProtocolDecoder, LongGivesARowAField) {
  const Decoded decoded =
      Decode(Long(), {"cpu,host=a f=1.5,b=T,s=\"x\",i=9007199254740993i,u=7u 1700000000000000000", "m,t=v f=1"});
  EXPECT_EQ(decoded.names, "Time _measurement _field value value_str host t partition offset ");
  const std::string begin = "Time=2023-11-14T22:13:20.000Z _measurement=cpu _field=";
  EXPECT_EQ(decoded.rows,
            (Rows{begin + "f value=1.5 host=a ", begin + "b value=1 host=a ", begin + "s value_str=x host=a ",
                  begin + "i value_str=9007199254740993 host=a ", begin + "u value=7 host=a ",
                  "Time=1970-01-01T00:00:00.005Z _measurement=m _field=f value=1 t=v "}));
}

// cases.md 42, 44
TEST(LineProtocolDecoder, ABadLineIsARowAndTheOthersArrive) {
  for (const DecodeOptions& options : {DecodeOptions{}, Long()}) {
    const Decoded decoded = Decode(options, {"m f=1\nm f=2,g=\"a \"b\" c\"\nm ,f=3\nm f=4", "m f=5"});
    ASSERT_EQ(decoded.rows.size(), 5u);
    EXPECT_NE(decoded.rows[1].find("error=invalid_line at line 2: byte 13: unexpected character"), std::string::npos)
        << decoded.rows[1];
    EXPECT_NE(decoded.rows[2].find("error=invalid_line at line 3: byte 3: expected a field key"), std::string::npos)
        << decoded.rows[2];
    EXPECT_EQ(decoded.rows[1].find("f="), std::string::npos) << "nothing of a bad line stays";
    EXPECT_EQ(decoded.counters.errors[static_cast<size_t>(ErrorReason::kInvalidLine)], 2u);
  }
}

// cases.md 45
TEST(LineProtocolDecoder, NamesThatAreTakenGetAPrefix) {
  EXPECT_EQ(Decode({}, {"m,offset=a,measurement=b,value=c,time=d offset=1,measurement=2,g=3,tag_offset=4"}).rows,
            (Rows{"time=1970-01-01T00:00:00.005Z g=3 measurement=m tag_measurement=b tag_offset=a tag_offset#2=4 "
                  "tag_time=d value=c value.measurement=2 value.offset=1 "}));
  EXPECT_EQ(Decode({}, {"m,a=tag a=1"}).rows, (Rows{"time=1970-01-01T00:00:00.005Z a=tag a#2=1 measurement=m "}));
  EXPECT_EQ(Decode(Long(), {"m,Time=a,_field=b,value=c,offset=d,host=e f=1"}).rows,
            (Rows{"Time=1970-01-01T00:00:00.005Z _measurement=m _field=f value=1 tag_Time=a tag__field=b tag_value=c "
                  "tag_offset=d host=e "}));
}

// cases.md 11, 12
TEST(LineProtocolDecoder, UnitsOfTime) {
  const Decoded decoded = Decode({}, {"m f=1 1455362189575\nm f=1 1440089182\nm f=1 1700000000000000123"});
  EXPECT_EQ(decoded.rows, (Rows{"time=2016-02-13T11:16:29.575Z f=1 measurement=m ",
                                "time=2015-08-20T16:46:22.000Z f=1 measurement=m ",
                                "time=2023-11-14T22:13:20.000000123Z f=1 measurement=m "}));
  EXPECT_EQ(decoded.notes, (Rows{"line protocol timestamps: unit s, ms, ns (auto)"}));
  DecodeOptions seconds;
  seconds.line_precision = TimeUnit::kSeconds;
  const Decoded fixed = Decode(seconds, {"m f=1 1654964761\nm f=1 -1\nm f=1 1455362189575"});
  EXPECT_EQ(fixed.rows[0], "time=2022-06-11T16:26:01.000Z f=1 measurement=m ");
  EXPECT_EQ(fixed.rows[1], "time=1969-12-31T23:59:59.000Z f=1 measurement=m ");
  EXPECT_NE(fixed.rows[2].find("invalid_line at line 3: byte 1: the timestamp is out of range in its unit"),
            std::string::npos)
      << fixed.rows[2];
  EXPECT_TRUE(fixed.notes.empty());
}

TEST(LineProtocolDecoder, FiltersCountWhatTheyLeaveOut) {
  DecodeOptions options;
  options.line_measurements = {"cpu*", "/^mem$/"};
  options.line_fields = {"f", "/g./"};
  options.line_tags = {"host=a", "host=b*", "zone", "env!=test"};
  const std::string payload =
      "cpu0,host=a,zone=z f=1,g=2,g1=3\n"   // kept, g left out
      "disk,host=a,zone=z f=1\n"            // measurement
      "mem,host=bb,zone=z,env=prod g2=1\n"  // kept
      "mem,host=c,zone=z f=1\n"             // host
      "mem,host=a f=1\n"                    // no zone
      "mem,host=a,zone=z,env=test f=1\n"    // env
      "mem,host=a,zone=z other=1";          // no field left
  const Decoded wide = Decode(options, {payload});
  EXPECT_EQ(wide.rows, (Rows{"time=1970-01-01T00:00:00.005Z f=1 g1=3 host=a measurement=cpu0 zone=z ",
                             "time=1970-01-01T00:00:00.005Z env=prod g2=1 host=bb measurement=mem zone=z "}));
  EXPECT_EQ(wide.counters.filtered, 5u);
  options.line_layout = LineLayout::kLong;
  const Decoded narrow = Decode(options, {payload});
  EXPECT_EQ(narrow.rows.size(), 3u);
  EXPECT_EQ(narrow.counters.filtered, 6u);
}

TEST(LineProtocolDecoder, ABadFilterIsNamed) {
  DecodeOptions options;
  options.line_measurements = {"["};
  EXPECT_EQ(Decode(options, {"m f=1", "[ f=2"}).rows.size(), 1u) << "a name like any other";
  options.line_measurements = {"/[/"};
  EXPECT_NE(Decode(options, {"m f=1"}).rows[0].find("measurement filter '/[/'"), std::string::npos);
  options.line_measurements.clear();
  options.line_tags = {"=x"};
  EXPECT_NE(Decode(options, {"m f=1"}).rows[0].find("tag filter '=x'"), std::string::npos);
}

TEST(LineProtocolDecoder, EmptyValueIsAnErrorAndCommentsAreFiltered) {
  const Decoded decoded = Decode({}, {"", "# only a comment\n\n", "m f=1"});
  ASSERT_EQ(decoded.rows.size(), 2u);
  EXPECT_NE(decoded.rows[0].find("error=empty_value"), std::string::npos);
  EXPECT_EQ(decoded.counters.filtered, 1u);
  EXPECT_EQ(decoded.counters.records, 3u);
}

TEST(LineProtocolDecoder, TheLastOfEqualFieldKeysWins) {
  const Decoded decoded = Decode({}, {"m f=1,f=2"});
  EXPECT_EQ(decoded.rows, (Rows{"time=1970-01-01T00:00:00.005Z f=2 measurement=m "}));
  EXPECT_EQ(decoded.counters.duplicate_keys, 1u);
}

TEST(LineProtocolDecoder, AFieldMayWiden) {
  const Decoded decoded = Decode({}, {"m f=1i\nm f=1.5\nm f=\"x\"\nm f=t"});
  EXPECT_EQ(decoded.rows, (Rows{"time=1970-01-01T00:00:00.005Z f=1 measurement=m ",
                                "time=1970-01-01T00:00:00.005Z f=1.5 measurement=m ",
                                "time=1970-01-01T00:00:00.005Z f=x measurement=m ",
                                "time=1970-01-01T00:00:00.005Z f=true measurement=m "}));
}

}  // namespace
}  // namespace kafscope
