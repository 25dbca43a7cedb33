#include "decode/avro_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "decode/avro_test_util.h"
#include "decode/avro_values.h"

namespace kafscope {
namespace {

std::string Field(std::string_view type, std::string_view hex) {
  return AvroRunner(R"({"type":"record","name":"R","fields":[{"name":"f","type":)" + std::string(type) + "}]}")
      .DecodeHex(hex);
}

TEST(AvroPlan, Primitives) {
  EXPECT_EQ(Field(R"("null")", ""), "f=null");
  EXPECT_EQ(Field(R"("boolean")", "01"), "f=true");
  EXPECT_EQ(Field(R"("int")", "01"), "f=-1");
  EXPECT_EQ(Field(R"("int")", "ffffffff0f"), "f=-2147483648");
  EXPECT_EQ(Field(R"("long")", "feffffffffffffffff01"), "f=9223372036854775807");
  EXPECT_EQ(Field(R"("long")", "ffffffffffffffffff01"), "f=-9223372036854775808");
  EXPECT_EQ(Field(R"("float")", "0000c03f"), "f=1.5");
  EXPECT_EQ(Field(R"("double")", "0000000000803540"), "f=21.5");
  EXPECT_EQ(Field(R"("string")", "0a68656c6c6f"), "f=string:hello");
  EXPECT_EQ(Field(R"("string")", "00"), "f=string:");
  EXPECT_EQ(Field(R"("bytes")", "04ff00"), "f=bytes:/wA=");
  EXPECT_EQ(Field(R"({"type":"fixed","name":"F","size":2})", "ff00"), "f=bytes:/wA=");
  EXPECT_EQ(Field(R"({"type":"enum","name":"E","symbols":["A","B"]})", "02"), "f=string:B");
}

TEST(AvroPlan, UnionsFlatten) {  // cases.md 33
  EXPECT_EQ(Field(R"(["null","long"])", "0202"), "f=1");
  EXPECT_EQ(Field(R"(["null","long"])", "00"), "f=null");
  EXPECT_EQ(Field(R"(["long","null"])", "0002"), "f=1");
  EXPECT_EQ(Field(R"(["long","null"])", "02"), "f=null");
  EXPECT_EQ(Field(R"(["long"])", "0002"), "f=1");
  EXPECT_EQ(Field(R"(["null","long","string"])", "0202"), "f.long=1 f.string=null");
  EXPECT_EQ(Field(R"(["null","long","string"])", "040278"), "f.long=null f.string=string:x");
  EXPECT_EQ(Field(R"(["null","long","string"])", "00"), "f.long=null f.string=null");
  EXPECT_EQ(Field(R"(["long",{"type":"enum","name":"E","symbols":["A","B"]}])", "0202"), "f.E=string:B f.long=null");
  EXPECT_EQ(Field(R"([{"type":"record","name":"a.X","fields":[{"name":"p","type":"int"}]},
                      {"type":"record","name":"b.X","fields":[{"name":"p","type":"int"}]}])",
                  "0206"),
            "f.a.X.p=null f.b.X.p=3");
  EXPECT_EQ(Field(R"(["null",{"type":"record","name":"X","fields":[{"name":"p","type":"int"}]}])", "00"), "f.p=null");
}

TEST(AvroPlan, NamesAndValuesBySchemaNeverByShape) {  // cases.md 33
  EXPECT_EQ(
      AvroRunner(R"({"type":"record","name":"R","fields":[{"name":"payload","type":{"type":"record","name":"P","fields":
        [{"name":"a","type":"int"},{"name":"b","type":"string"}]}}]})")
          .DecodeHex("020278"),
      "payload.a=1 payload.b=string:x");
  EXPECT_EQ(Field(R"({"type":"map","values":"string"})", "020c737472696e67027800"), R"(f=string:{"string":"x"})");
  EXPECT_EQ(Field(R"({"type":"map","values":"string"})", "02086e756c6c027600"), R"(f=string:{"null":"v"})");
  EXPECT_EQ(Field(R"(["null",{"type":"enum","name":"E","symbols":["A"]}])", "0200"), "f=string:A");
}

TEST(AvroPlan, ArraysAndMapsAreJsonText) {
  EXPECT_EQ(Field(R"({"type":"array","items":"long"})", "0402040203000000"), "at 6: bytes remain after the last field");
  EXPECT_EQ(Field(R"({"type":"array","items":"long"})", "00"), "f=string:[]");
  EXPECT_EQ(Field(R"({"type":"array","items":"long"})", "040204020600"), "f=string:[1,2,3]");
  EXPECT_EQ(Field(R"({"type":"array","items":"long"})", "03040204020600"), "f=string:[1,2,3]");  // block with a size
  EXPECT_EQ(Field(R"({"type":"map","values":["null","double"]})", "0402610402620000"),
            "at 3: a union branch that does not exist");
  EXPECT_EQ(Field(R"({"type":"map","values":["null","double"]})", "04026102000000000000f87f02620000"),
            R"(f=string:{"a":"NaN","b":null})");
  EXPECT_EQ(Field(R"({"type":"array","items":{"type":"record","name":"I","fields":[
              {"name":"b","type":"bytes"},{"name":"s","type":"string"}]}})",
                  "0202ff06220a5c00"),
            R"(f=string:[{"b":"/w==","s":"\"\n\\"}])");
}

TEST(AvroPlan, RootsThatAreNotRecords) {
  EXPECT_EQ(AvroRunner(R"("long")").DecodeHex("04"), "value=2");
  EXPECT_EQ(AvroRunner(R"(["null","long"])").DecodeHex("00"), "value=null");
  EXPECT_EQ(AvroRunner(R"(["string","long"])").DecodeHex("0204"), "value.long=2 value.string=null");
  EXPECT_EQ(AvroRunner(R"({"type":"map","values":"int"})").DecodeHex("0202610200"), R"(value=string:{"a":1})");
  EXPECT_EQ(AvroRunner(R"({"type":"record","name":"R","fields":[]})").DecodeHex(""), "");
}

TEST(AvroPlan, AnArrayAsTheWholeValueHasColumns) {
  AvroRunner runner(R"({"type":"array","items":{"type":"record","name":"I","fields":[{"name":"a","type":"int"}]}})");
  EXPECT_EQ(runner.DecodeHex("0402040206000000"), "at 6: bytes remain after the last field");
  EXPECT_EQ(runner.DecodeHex("04020400"), "item_0.a=1 item_1.a=2 item_2.a=null");
  EXPECT_EQ(runner.DecodeHex("0206020800"), "item_0.a=3 item_1.a=4 item_2.a=null");
  EXPECT_EQ(runner.DecodeHex("00"), "item_0.a=null item_1.a=null item_2.a=null");
  EXPECT_EQ(runner.DecodeHex("0402"), "at 0: an impossible count of items");
  EXPECT_EQ(AvroRunner(R"({"type":"array","items":["null","string","int"]})").DecodeHex("04040202027800"),
            "item_0.int=1 item_0.string=null item_1.int=null item_1.string=string:x");
  AvroRunner large(R"({"type":"array","items":"int"})");
  const std::string many = "a01f" + std::string(4000, '0') + "00";  // 2000 items
  EXPECT_TRUE(large.DecodeHex(many).starts_with("item_0=0 item_1=0 item_10=0"));
  EXPECT_EQ(large.builder().fields_cut(), 0u);
}

TEST(AvroPlan, DepthBoundsColumns) {  // cases.md 22
  const std::string list = R"({"type":"record","name":"L","fields":[{"name":"v","type":"int"},
    {"name":"n","type":["null","L"]}]})";
  EXPECT_EQ(AvroRunner(list, 2).DecodeHex("0202040206020800"), R"(n.n=string:{"v":3,"n":{"v":4,"n":null}} n.v=2 v=1)");
  EXPECT_EQ(AvroRunner(list, 2).DecodeHex("020200"), "at 3: the value ends inside of a field");
  EXPECT_EQ(AvroRunner(list, 2).DecodeHex("0200"), "n.n=null n.v=null v=1");
  // A long list is text, a bomb is an error.
  std::string hundred;
  std::string bomb;
  for (int i = 0; i < 100; ++i) hundred += "0202";
  for (int i = 0; i < 5000; ++i) bomb += "0202";
  EXPECT_TRUE(AvroRunner(list).DecodeHex(hundred + "0200").starts_with("n.n.n.n.n=string:{"));
  EXPECT_NE(AvroRunner(list).DecodeHex(bomb + "0200").find("nested too deep"), std::string::npos);
  EXPECT_EQ(Field(R"({"type":"record","name":"E","fields":[]})", ""), "f=string:{}");  // cases.md 23
}

TEST(AvroPlan, FieldCapDropsButReads) {  // cases.md 21
  AvroRunner runner(R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"string"},
    {"name":"c","type":{"type":"array","items":"int"}},{"name":"d","type":"int"}]})",
                    5, 2);
  EXPECT_EQ(runner.DecodeHex("02027802060002"), "a=1 b=string:x");
  EXPECT_EQ(runner.builder().fields_cut(), 2u);
}

TEST(AvroPlan, Decimals) {  // cases.md 26
  const auto decimal = [](int precision, int scale, std::string_view hex) {
    return Field(R"({"type":"bytes","logicalType":"decimal","precision":)" + std::to_string(precision) +
                     R"(,"scale":)" + std::to_string(scale) + "}",
                 hex);
  };
  EXPECT_EQ(decimal(10, 2, "040fda"), "f=40.58");
  EXPECT_EQ(decimal(10, 2, "04f026"), "f=-40.58");
  EXPECT_EQ(decimal(20, 0, "12008000000000000000"), "f=string:9223372036854775808");
  EXPECT_EQ(decimal(20, 2, "02ff"), "f=string:-0.01");
  EXPECT_EQ(decimal(20, 2, "00"), "f=string:0.00");
  EXPECT_EQ(decimal(10, 2, "00"), "f=0");
  EXPECT_EQ(decimal(4, 2, "12008000000000000000"), "f=string:92233720368547758.08");  // beyond its own precision
  EXPECT_EQ(decimal(60, 3,
                    "2800"
                    "ffffffffffffffffffffffffffffffffffffff"),
            "f=string:5708990770823839524233143877797980545530986.495");
  EXPECT_EQ(Field(R"({"type":"fixed","name":"F","size":3,"logicalType":"decimal","precision":6,"scale":1})", "ffffff"),
            "f=-0.1");
  AvroRunner both(R"({"type":"record","name":"R","fields":[
    {"name":"a","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
    {"name":"b","type":["null",{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}]}]})");
  EXPECT_EQ(both.DecodeHex("040fda02040fda"), "a=40.58 b=40.58");
}

TEST(AvroPlan, Times) {  // cases.md 25, 27
  const auto logical = [](std::string_view base, std::string_view name, std::string_view hex) {
    return Field(R"({"type":")" + std::string(base) + R"(","logicalType":")" + std::string(name) + R"("})", hex);
  };
  EXPECT_EQ(logical("long", "timestamp-millis", "02"), "f=1970-01-01T00:00:00.001Z");
  EXPECT_EQ(logical("long", "timestamp-micros", "01"), "f=1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(logical("long", "timestamp-nanos", "02"), "f=1970-01-01T00:00:00.000000001Z");
  EXPECT_EQ(logical("long", "local-timestamp-millis", "02"), "f=1970-01-01T00:00:00.001Z");
  EXPECT_EQ(logical("int", "date", "ce0a"), "f=1971-11-11T00:00:00.000Z");
  EXPECT_EQ(logical("int", "date", "80daf302"), "f=string:+10306-11-28T00:00:00.000Z") << "beyond nanoseconds";
  EXPECT_EQ(logical("int", "time-millis", "02"), "f=string:00:00:00.001");
  EXPECT_EQ(logical("long", "time-micros", "03"), "f=string:-2");
  EXPECT_EQ(logical("long", "someday", "02"), "f=1");
  EXPECT_EQ(Field(R"(["null",{"type":"long","logicalType":"timestamp-micros"}])", "0202"),
            "f=1970-01-01T00:00:00.000001Z");
}

TEST(AvroPlan, UuidAndDuration) {
  EXPECT_EQ(Field(R"({"type":"fixed","name":"U","size":16,"logicalType":"uuid"})", "00112233445566778899aabbccddeeff"),
            "f=string:00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(Field(R"({"type":"string","logicalType":"uuid"})", "0278"), "f=string:x");
  EXPECT_EQ(Field(R"({"type":"fixed","name":"D","size":12,"logicalType":"duration"})", "0100000002000000bc0b0000"),
            "f=string:P1M2DT3.004S");
}

TEST(AvroPlan, LogicalTypesInsideText) {
  const auto item = [](std::string_view type, std::string_view hex) {
    return Field(R"({"type":"array","items":)" + std::string(type) + "}", "02" + std::string(hex) + "00");
  };
  EXPECT_EQ(item(R"({"type":"int","logicalType":"date"})", "ce0a"), R"(f=string:["1971-11-11"])");
  EXPECT_EQ(item(R"({"type":"long","logicalType":"timestamp-millis"})", "02"),
            R"(f=string:["1970-01-01T00:00:00.001Z"])");
  EXPECT_EQ(item(R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})", "040fda"), "f=string:[40.58]");
  EXPECT_EQ(item(R"({"type":"bytes","logicalType":"decimal","precision":19,"scale":2})", "040fda"),
            R"(f=string:["40.58"])");
}

TEST(AvroPlan, InvalidUtf8IsReplacedAndCounted) {  // cases.md 18
  AvroRunner runner(R"({"type":"record","name":"R","fields":[{"name":"s","type":"string"},
    {"name":"l","type":{"type":"array","items":"string"}}]})");
  EXPECT_EQ(runner.DecodeHex("0461ff0202fe00"), "l=string:[\"\xef\xbf\xbd\"] s=string:a\xef\xbf\xbd");
  EXPECT_EQ(runner.state().replaced_utf8, 2u);
}

TEST(AvroPlan, HostileInputIsAnError) {
  EXPECT_EQ(Field(R"("long")", ""), "at 0: the value ends inside of a field");
  EXPECT_EQ(Field(R"("long")", "8080"), "at 0: the value ends inside of a field");
  EXPECT_EQ(Field(R"("long")", "ffffffffffffffffff02"), "at 0: a number longer than 64 bits");
  EXPECT_EQ(Field(R"("long")", "ffffffffffffffffffff01"), "at 0: a number longer than 64 bits");
  EXPECT_EQ(Field(R"("int")", "feffffff1f"), "at 0: an int beyond 32 bits");
  EXPECT_EQ(Field(R"("boolean")", "02"), "at 0: a boolean that is neither 0 nor 1");
  EXPECT_EQ(Field(R"("double")", "00"), "at 0: the value ends inside of a field");
  EXPECT_EQ(Field(R"("string")", "01"), "at 0: a negative length");
  EXPECT_EQ(Field(R"("string")", "0461"), "at 1: the value ends inside of a field");
  EXPECT_EQ(Field(R"("bytes")", "feffffffffffffffff01"), "at 10: the value ends inside of a field");
  EXPECT_EQ(Field(R"({"type":"enum","name":"E","symbols":["A"]})", "02"), "at 0: an enum index without a symbol");
  EXPECT_EQ(Field(R"({"type":"enum","name":"E","symbols":[]})", "00"), "at 0: an enum index without a symbol");
  EXPECT_EQ(Field(R"(["null","int"])", "04"), "at 0: a union branch that does not exist");
  EXPECT_EQ(Field(R"(["null","int"])", "01"), "at 0: a union branch that does not exist");
  EXPECT_EQ(Field("[]", "00"), "at 0: a union branch that does not exist");
  EXPECT_EQ(Field(R"({"type":"array","items":"int"})", "feffffffffffffffff01"), "at 0: an impossible count of items");
  EXPECT_EQ(Field(R"({"type":"array","items":"int"})", "ffffffffffffffffff0100"), "at 0: an impossible count of items");
  EXPECT_EQ(Field(R"({"type":"array","items":"null"})", "feffffffffffffffff01"), "at 10: too many items without bytes");
  EXPECT_EQ(Field(R"({"type":"array","items":"null"})", "0400"), "f=string:[null,null]");
}

TEST(AvroPlan, BoundsSchemasThatExplode) {
  // Each record holds the next one twice: 2^60 fields, no byte.
  std::string text = R"({"type":"record","name":"R60","fields":[]})";
  for (int i = 59; i >= 0; --i) {
    text = R"({"type":"record","name":"R)" + std::to_string(i) + R"(","fields":[{"name":"a","type":)" + text +
           R"(},{"name":"b","type":"R)" + std::to_string(i + 1) + R"("}]})";
  }
  EXPECT_NE(AvroRunner(text, 64).error().find("more than 100000 fields"), std::string::npos);
  EXPECT_NE(AvroRunner(text, 1).Decode("").find("too many items without bytes"), std::string::npos);
  // A record that holds itself never ends.
  const std::string endless = R"({"type":"record","name":"R","fields":[{"name":"r","type":"R"}]})";
  EXPECT_NE(AvroRunner(endless).Decode("").find("nested too deep"), std::string::npos);
}

TEST(AvroPlan, AFaultTakesNothingIntoTheNextRow) {
  AvroRunner runner(
      R"({"type":"record","name":"R","fields":[{"name":"s","type":"string"},{"name":"n","type":"int"}]})");
  EXPECT_EQ(runner.Add(BytesFromHex("027802")), AvroFault::kNone);
  EXPECT_EQ(runner.Add(BytesFromHex("0279")), AvroFault::kTruncated);
  EXPECT_EQ(runner.Add(BytesFromHex("027a04")), AvroFault::kNone);
  const FramePtr frame = runner.Finish();
  ASSERT_EQ(frame->num_rows(), 2u);
  EXPECT_EQ(CellText(*frame, 1, 1), "string:z");
  EXPECT_EQ(CellText(*frame, 0, 1), "2");
}

TEST(AvroValues, DecimalOfAnySize) {
  const auto text = [](std::string_view hex, uint32_t scale) {
    std::string out;
    AppendDecimal(BytesFromHex(hex), scale, &out);
    return out;
  };
  EXPECT_EQ(text("80", 0), "-128");
  EXPECT_EQ(text("80000000000000000000000000000000", 0), "-170141183460469231731687303715884105728");
  EXPECT_EQ(text("ff7fffffffffffffffffffffffffffffff", 0), "-170141183460469231731687303715884105729");
  EXPECT_EQ(text("0080000000000000000000000000000000", 5), "1701411834604692317316873037158841.05728");
  EXPECT_EQ(text("ff00000000000000000000000000000000000000000000000000", 0),
            "-1606938044258990275541962092341162602522202993782792835301376");
}

TEST(AvroValues, InstantsOfAnyYear) {
  const auto text = [](int64_t value, int64_t per_second) {
    std::string out;
    AppendInstant(value, per_second, &out);
    return out;
  };
  EXPECT_EQ(text(253402214400, 1), "9999-12-31T00:00:00.000Z");
  EXPECT_EQ(text(253402300800, 1), "+10000-01-01T00:00:00.000Z");
  EXPECT_EQ(text(-62135596800001, 1000), "0000-12-31T23:59:59.999Z");
  EXPECT_EQ(text(-62167219200001, 1000), "-0001-12-31T23:59:59.999Z");
  EXPECT_EQ(text(INT64_MIN, 1000), "-292275055-05-16T16:47:04.192Z");
  EXPECT_EQ(text(951782400123456, 1000000), "2000-02-29T00:00:00.123456Z");
}

}  // namespace
}  // namespace kafscope
