#include "decode/protobuf_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/perf_switches.h"
#include "decode/decoder.h"
#include "decode/protobuf_test_util.h"

namespace kafscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::string>;

class FakeStore final : public SchemaStore {
 public:
  void Add(int32_t id, std::string text, std::vector<RegisteredSchema::Reference> references = {}) {
    auto schema = std::make_shared<RegisteredSchema>();
    schema->id = id;
    schema->type = SchemaType::kProtobuf;
    schema->text = std::move(text);
    schema->references = std::move(references);
    schemas_[std::to_string(id)] = std::move(schema);
  }
  Answer Find(int32_t id) override { return FindByGuid(std::to_string(id)); }
  Answer FindByGuid(std::string_view name) override {
    ++asked;
    if (pending) return {};
    const auto it = schemas_.find(std::string(name));
    if (it == schemas_.end()) return {State::kFailed, nullptr, Status::NotFound("not in the registry")};
    return {State::kReady, it->second, Status::Ok()};
  }
  bool pending = false;
  int asked = 0;

 private:
  std::map<std::string, std::shared_ptr<const RegisteredSchema>> schemas_;
};

DecodeOptions WithSchema(std::string text, std::string message = "") {
  DecodeOptions options;
  options.format = Format::kProtobuf;
  options.value_schema.text = "syntax = \"proto3\";\n" + std::move(text);
  options.value_schema.message = std::move(message);
  return options;
}

DecodeOptions WithStore(const std::shared_ptr<FakeStore>& store) {
  DecodeOptions options;
  options.format = Format::kProtobuf;
  options.schemas = store;
  return options;
}

TEST(ProtobufDecoder, ScalarsAreTypedAndExact) {
  ProtobufUnderTest test(WithSchema(
      "message M { int32 a=1; sint64 b=2; uint64 c=3; bool d=4; double e=5; float f=6; string g=7; bytes h=8;\n"
      "  fixed32 i=9; sfixed64 j=10; E k=11; uint32 l=12; } enum E { ZERO=0; ONE=1; }"));
  EXPECT_EQ(test.Row("08ffffffffffffffffff01"
                     "1003"
                     "18ffffffffffffffffff01"
                     "2001"
                     "29000000000000f83f"
                     "350000c03f"
                     "3a0268c3"
                     "4202ff00"),
            "error=invalid_utf8 at byte 43: a proto3 string that is not UTF-8");
  EXPECT_EQ(test.Row("08ffffffffffffffffff01"
                     "1003"
                     "18ffffffffffffffffff01"
                     "2001"
                     "29000000000000f83f"
                     "350000c03f"
                     "3a026869"
                     "4202ff00"
                     "4dffffffff"
                     "51feffffffffffffff"
                     "5801"
                     "60ffffffff0f"),
            "a=-1 b=-2 c=18446744073709551615 d=true e=1.5 f=1.5 g=hi h=/wA= i=4294967295 j=-2 k=ONE l=4294967295");
  EXPECT_EQ(test.Row("5863"), "a=0 b=0 c=0 d=false e=0 f=0 g= h= i=0 j=0 k=99 l=0");
  EXPECT_EQ(test.Row("0801"
                     "9a0600"
                     "a00600"
                     "0802"),
            "a=2 b=0 c=0 d=false e=0 f=0 g= h= i=0 j=0 k=ZERO l=0");
  EXPECT_EQ(test.counters().unknown_fields, 2u);
}

// Case 38.
TEST(ProtobufDecoder, DefaultsArePresentAndOptionalIsNull) {
  ProtobufUnderTest test(
      WithSchema("message M { int64 a=1; int32 b=2; optional int32 c=3; bool d=4; M2 m=5; }\n"
                 "message M2 { int32 x=1; optional string y=2; }"));
  EXPECT_EQ(test.Row(""), "a=0 b=0 d=false");
  EXPECT_EQ(test.Row("1001"), "a=0 b=1 d=false");
  EXPECT_EQ(test.Row("1800"), "a=0 b=0 c=0 d=false");
  EXPECT_EQ(test.Row("2a00"), "a=0 b=0 d=false m.x=0");
  EXPECT_EQ(test.Row("2a021200"), "a=0 b=0 d=false m.x=0 m.y=");
  EXPECT_THAT(test.ColumnNames(), ElementsAre("a", "b", "c", "d", "m.x", "m.y"));  // from the first record on
}

// Case 39.
TEST(ProtobufDecoder, OneofsMapsAndUint64) {
  ProtobufUnderTest test(
      WithSchema("message M { oneof o { int32 i=1; string s=2; P p=3; } map<int64, P> m=4; uint64 u=5;\n"
                 "  map<string, uint64> t=6; }\n"
                 "message P { int32 x=1; repeated int32 r=2; }"));
  EXPECT_EQ(test.Row("0807"), "i=7 m={} t={} u=0");
  EXPECT_EQ(test.Row("0800"), "i=0 m={} t={} u=0");
  EXPECT_EQ(test.Row("0807"
                     "120161"),
            "m={} s=a t={} u=0");
  EXPECT_EQ(test.Row("1a04"
                     "08011002"
                     "0807"),
            "i=7 m={} t={} u=0");
  EXPECT_EQ(test.Row("1a02"
                     "0801"
                     "1a02"
                     "1005"),
            "m={} p.r=[5] p.x=1 t={} u=0");  // parts are merged
  EXPECT_EQ(test.Row("1a02"
                     "0801"
                     "0807"
                     "1a02"
                     "1005"),
            "m={} p.r=[5] p.x=0 t={} u=0");  // not across another arm
  EXPECT_EQ(test.Row("2206080212020802220f08feffffffffffffffff0112020803220608021202080928ffffffffffffffffff0132050a016"
                     "2100132050a01611002"),
            "m={\"-2\":{\"x\":3,\"r\":[]},\"2\":{\"x\":9,\"r\":[]}} t={\"a\":2,\"b\":1} u=18446744073709551615");
}

TEST(ProtobufDecoder, RepeatedIsJsonTextPackedOrNot) {
  ProtobufUnderTest test(
      WithSchema("message M { repeated int32 p=1; repeated string s=2; repeated P m=3; repeated bool b=4;"
                 " repeated double d=5; }\nmessage P { int32 x=1; P q=2; }"));
  EXPECT_EQ(test.Row("0a03010203"
                     "0804"),
            "b=[] d=[] m=[] p=[1,2,3,4] s=[]");
  EXPECT_EQ(test.Row("0801"
                     "12016a"
                     "0a0102"
                     "120122"),
            "b=[] d=[] m=[] p=[1,2] s=[\"j\",\"\\\"\"]");
  EXPECT_EQ(test.Row("1a020801"
                     "1a00"
                     "1a06"
                     "0802"
                     "12020803"
                     "22020001"),
            "b=[false,true] d=[] m=[{\"x\":1},{\"x\":0},{\"x\":2,\"q\":{\"x\":3}}] p=[] s=[]");
  EXPECT_EQ(test.Row("2a10"
                     "000000000000f87f"
                     "000000000000f0ff"),
            "b=[] d=[\"NaN\",\"-Infinity\"] m=[] p=[] s=[]");
  EXPECT_THAT(test.Row("0a0280"), HasSubstr("error="));
}

TEST(ProtobufDecoder, WellKnownTypes) {
  ProtobufUnderTest test(WithSchema(
      "import \"google/protobuf/timestamp.proto\"; import \"google/protobuf/duration.proto\";\n"
      "import \"google/protobuf/wrappers.proto\"; import \"google/protobuf/struct.proto\";\n"
      "import \"google/protobuf/field_mask.proto\"; import \"google/protobuf/empty.proto\";\n"
      "message M { google.protobuf.Timestamp t=1; google.protobuf.Duration d=2; google.protobuf.Int64Value w=3;\n"
      "  google.protobuf.StringValue sw=4; google.protobuf.Struct s=5; google.protobuf.Value v=6;\n"
      "  google.protobuf.FieldMask f=7; google.protobuf.Empty e=8; repeated google.protobuf.Timestamp ts=9; }"));
  EXPECT_EQ(test.Row(""), "ts=[]");
  EXPECT_EQ(test.Row("0a0808d083f2df051001"), "t=2018-11-26T23:29:20.000000001Z ts=[]");
  EXPECT_EQ(test.Row("0a0208010a021002"), "t=1970-01-01T00:00:01.000000002Z ts=[]");  // parts
  EXPECT_EQ(test.Row("120808011080cab5ee01"), "d=1.500s ts=[]");
  EXPECT_EQ(test.Row("1200"), "d=0s ts=[]");
  EXPECT_EQ(test.Row("1a00"
                     "22020a00"),
            "sw= ts=[] w=0");
  EXPECT_EQ(test.Row("1a020805"), "ts=[] w=5");
  EXPECT_EQ(test.Row("2a0d"
                     "0a0b"
                     "0a0161"
                     "1206"
                     "1a0474727565"),
            "s={\"a\":\"true\"} ts=[]");
  EXPECT_EQ(test.Row("3202"
                     "0800"),
            "ts=[] v=null");
  EXPECT_EQ(test.Row("3209"
                     "11000000000000f83f"),
            "ts=[] v=1.5");
  EXPECT_EQ(test.Row("3a09"
                     "0a07"
                     "666f6f5f626172"),
            "f=fooBar ts=[]");
  EXPECT_EQ(test.Row("4200"), "e={} ts=[]");
  EXPECT_EQ(test.Row("4a00"), "ts=[\"1970-01-01T00:00:00Z\"]");
  EXPECT_THAT(test.Row("0a0210ffffffffffffffffff01"), HasSubstr("error="));
  EXPECT_EQ(test.Row("0a0b08ff91b8c398feffffff01"),
            "error=invalid_value at byte 2: a Timestamp outside of years 1 to 9999");
}

TEST(ProtobufDecoder, TimesBeyondNanosecondsAreText) {
  ProtobufUnderTest test(
      WithSchema("import \"google/protobuf/timestamp.proto\";\n"
                 "message M { google.protobuf.Timestamp t=1; }"));
  EXPECT_EQ(test.Row("0a0708ff82d1ffaf07"), "t=9999-12-31T23:59:59Z");
  EXPECT_EQ(test.Row("0a0b088092b8c398feffffff01"), "t=0001-01-01T00:00:00Z");
}

// Case 37.
TEST(ProtobufDecoder, AnyOfKnownAndUnknownType) {
  ProtobufUnderTest test(
      WithSchema("import \"google/protobuf/any.proto\"; message M { int32 a=1; google.protobuf.Any y=2; }\n"
                 "message P { int32 x=1; }"));
  const auto any = [](std::string url, std::string hex) {
    const std::string bytes = BytesOfHex(hex);
    std::string inner = "\n" + std::string(1, static_cast<char>(url.size())) + url + "\x12" +
                        std::string(1, static_cast<char>(bytes.size())) + bytes;
    return "\x08\x05\x12" + std::string(1, static_cast<char>(inner.size())) + inner;
  };
  EXPECT_EQ(test.RowOf(any("t.x/Unknown", "ff00")), "a=5 y={\"@type\":\"t.x/Unknown\",\"value\":\"/wA=\"}");
  EXPECT_EQ(test.RowOf(any("t.x/P", "0809")), "a=5 y={\"@type\":\"t.x/P\",\"x\":9}");
  EXPECT_EQ(test.RowOf(any("t.x/google.protobuf.Duration", "0809")),
            "a=5 y={\"@type\":\"t.x/google.protobuf.Duration\",\"value\":\"9s\"}");
  EXPECT_EQ(test.Row("1200"), "a=0 y={}");
}

TEST(ProtobufDecoder, RecursionGoesToTheDepthThenText) {
  ProtobufUnderTest test(WithSchema("message N { int32 v=1; N n=2; }"));
  EXPECT_EQ(test.Row("0801"), "v=1");
  EXPECT_EQ(test.Row("0801"
                     "12020802"),
            "n.v=2 v=1");
  EXPECT_EQ(test.Row("120e"
                     "120c"
                     "120a"
                     "1208"
                     "1206"
                     "0801"
                     "12020802"),
            "n.n.n.n.n={\"v\":1,\"n\":{\"v\":2}} n.n.n.n.v=0 n.n.n.v=0 n.n.v=0 n.v=0 v=0");
  // A fault takes the new columns of its row back; the next row adds them again.
  ProtobufUnderTest fresh(WithSchema("message N { int32 v=1; N n=2; }"));
  EXPECT_THAT(fresh.Row("12020801"
                        "ff"),
              HasSubstr("error="));
  EXPECT_EQ(fresh.Row("12020801"), "n.v=1 v=0");
  std::string deep;
  for (int i = 0; i < 200; ++i) {
    std::string size;
    for (size_t n = deep.size();; n >>= 7) {
      size.push_back(static_cast<char>(n > 127 ? (n & 127) | 128 : n));
      if (n <= 127) break;
    }
    deep = "\x12" + size + deep;
  }
  EXPECT_THAT(test.RowOf(deep), HasSubstr("error=too_deep"));
}

TEST(ProtobufDecoder, MalformedBytesAreErrorRows) {
  ProtobufUnderTest test(WithSchema("message M { int32 a=1; string s=2; M m=3; fixed64 f=4; }"));
  EXPECT_EQ(test.Row("08"), "error=truncated at byte 0: the value is cut off or its varint too long");
  EXPECT_EQ(test.Row("0801"
                     "1205"
                     "6161"),
            "error=truncated at byte 2: the value is cut off or its varint too long");
  EXPECT_EQ(test.Row("0801"
                     "00"),
            "error=invalid_value at byte 2: not a field tag");
  EXPECT_EQ(test.Row("0801"
                     "0f00"),
            "error=invalid_value at byte 3: no such wire type");
  EXPECT_THAT(test.Row("0c"), HasSubstr("a group's start and end do not match"));
  EXPECT_THAT(test.Row("0b"), HasSubstr("a group's start and end do not match"));
  EXPECT_THAT(test.Row("1a03"
                       "0801"),
              HasSubstr("error=truncated at byte 0"));
  EXPECT_THAT(test.Row("21010203"), HasSubstr("error=truncated"));
  EXPECT_EQ(test.Row("0801"), "a=1 f=0 s=");
}

// Case 34 and 35.
TEST(ProtobufDecoder, MessageIndexesChooseTheType) {
  auto store = std::make_shared<FakeStore>();
  store->Add(7,
             "syntax = \"proto3\"; message A { int32 a=1; } message B { int32 b=1; message N { int32 n=1; } } message "
             "C { int32 c=1; }");
  ProtobufUnderTest test(WithStore(store));
  EXPECT_EQ(test.Row("0000000007"
                     "00"
                     "082a"),
            "a=42");
  EXPECT_EQ(test.Row("0000000007"
                     "00"),
            "a=0");
  EXPECT_EQ(test.Row("0000000007"
                     "0202"
                     "082a"),
            "b=42");
  EXPECT_EQ(test.Row("0000000007"
                     "0204"
                     "082a"),
            "c=42");
  EXPECT_EQ(test.Row("0000000007"
                     "040200"
                     "082a"),
            "n=42");
  EXPECT_EQ(test.Row("0000000007"
                     "0208"
                     "082a"),
            "error=not_framed at byte 0: message index [4]: the schema has 3 message types there");
  EXPECT_EQ(test.Row("082a"), "error=not_framed at byte 0: not registry-framed: first byte 0x08");
  EXPECT_EQ(test.Row("0000000009"
                     "00"),
            "error=unknown_schema at byte 0: schema 9: not in the registry");
  EXPECT_EQ(test.decoder().notes().front(), "schema id 7");
  EXPECT_EQ(store->asked, 2);
}

// Case 36.
TEST(ProtobufDecoder, ReferencesAndBadSchemas) {
  auto store = std::make_shared<FakeStore>();
  store->Add(1,
             "syntax = \"proto3\"; import \"google/protobuf/timestamp.proto\"; import \"x.proto\";\n"
             "message A { X x=1; google.protobuf.Timestamp t=2; }",
             {{"x.proto", "x", 1, "syntax = \"proto3\"; message X { int32 i=1; }"}});
  store->Add(2, "syntax = \"proto3\"; message A { Missing x=1; }");
  ProtobufUnderTest test(WithStore(store));
  EXPECT_EQ(test.Row("0000000001"
                     "00"
                     "0a020801"
                     "12020802"),
            "t=1970-01-01T00:00:02.000Z x.i=1");
  EXPECT_THAT(test.Row("0000000002"
                       "00"),
              HasSubstr("error=invalid_schema at byte 0: schema 2: schema.proto:1:32: \"Missing\" is not defined"));
  EXPECT_EQ(test.Row("0000000001"
                     "00"
                     "0a020802"),
            "x.i=2");
}

TEST(ProtobufDecoder, RecordsWaitForTheirSchema) {
  auto store = std::make_shared<FakeStore>();
  store->Add(1, "syntax = \"proto3\"; message A { int32 a=1; }");
  store->pending = true;
  ProtobufUnderTest test(WithStore(store));
  EXPECT_EQ(test.Row("0000000001"
                     "00"
                     "0801"),
            "waiting");
  store->pending = false;
  EXPECT_EQ(test.Row("0000000001"
                     "00"
                     "0801"),
            "a=1");
}

TEST(ProtobufDecoder, FramingByOption) {
  DecodeOptions options = WithSchema("message A { int32 a=1; } message B { int32 b=1; }");
  options.framing = Framing::kConfluent;
  EXPECT_EQ(ProtobufUnderTest(options).Row("0000000001"
                                           "0202"
                                           "0801"),
            "b=1");
  options.value_schema.message = "A";
  EXPECT_EQ(ProtobufUnderTest(options).Row("0000000001"
                                           "0202"
                                           "0801"),
            "a=1");
  options.framing = Framing::kAuto;
  EXPECT_EQ(ProtobufUnderTest(options).Row("0000000001"
                                           "0202"
                                           "0801"),
            "a=1");
  EXPECT_EQ(ProtobufUnderTest(options).Row("0801"), "a=1");
  EXPECT_EQ(ProtobufUnderTest(options).Row(""), "a=0");
}

TEST(ProtobufDecoder, OptionsThatCannotWorkAreRefused) {
  const auto fault = [](const DecodeOptions& options) {
    auto decoder = MakeDecoder(options);
    return decoder ? "" : std::string(decoder.error().message());
  };
  EXPECT_THAT(fault(WithSchema("message A {")), HasSubstr("--schema: schema.proto:2:12: "));
  EXPECT_THAT(fault(WithSchema("message A {}", "Q")), HasSubstr("--message: no message 'Q' in the schema; it has: A"));
  EXPECT_THAT(fault(WithSchema("enum E { Z=0; }")), HasSubstr("no message type"));
  DecodeOptions options;
  options.format = Format::kProtobuf;
  options.value_schema.message = "A";
  EXPECT_THAT(fault(options), HasSubstr("--message needs --schema"));
  options = WithStore(std::make_shared<FakeStore>());
  options.framing = Framing::kNone;
  EXPECT_THAT(fault(options), HasSubstr("--framing none needs --schema"));
}

TEST(ProtobufDecoder, WithoutASchemaItGuesses) {
  DecodeOptions options;
  options.format = Format::kProtobuf;
  ProtobufUnderTest test(options);
  EXPECT_EQ(test.Row("089601"
                     "1203616263"
                     "1a03089601"
                     "250000803f"
                     "29000000000000f03f"),
            "1=150 2=abc 3.1=150 4=0x3f800000 5=0x3ff0000000000000");
  EXPECT_EQ(test.Row("0801"
                     "0802"),
            "1=[1,2]");
  EXPECT_EQ(test.Row("3202ff00"), "6=/wA=");
  EXPECT_EQ(test.Row("3b08013c"), "7.1=1");
  EXPECT_THAT(test.Row("0a"), HasSubstr("error=truncated"));
  EXPECT_THAT(test.decoder().notes(), ElementsAre(HasSubstr("a guess")));
}

TEST(ProtobufDecoder, KeysBySchema) {
  auto store = std::make_shared<FakeStore>();
  store->Add(1, "syntax = \"proto3\"; message K { int32 id=1; N n=2; message N { string s=1; } }");
  DecodeOptions options;
  options.format = Format::kPlaintext;
  options.key_format = KeyFormat::kProtobuf;
  options.schemas = store;
  ProtobufUnderTest test(options);
  EXPECT_EQ(test.RowWithKey("0000000001"
                            "00"
                            "0805"
                            "12030a0178",
                            "7a"),
            "key.id=5 key.n.s=x message=z");
  EXPECT_THAT(test.RowWithKey("0000000001"
                              "00"
                              "08",
                              "7a"),
              HasSubstr("invalid_key"));
}

TEST(ProtobufDecoder, SwitchesChangeNoRow) {
  auto store = std::make_shared<FakeStore>();
  store->Add(1, "syntax = \"proto3\"; message A { int32 a=1; repeated int32 r=2; A n=3; }");
  store->Add(2, "syntax = \"proto3\"; message A { int32 a=1; string s=2; }");
  const auto rows = [&] {
    ProtobufUnderTest test(WithStore(store));
    return Rows{test.Row("0000000001"
                         "00"
                         "0801"
                         "1a020802"),
                test.Row("0000000002"
                         "00"
                         "0801"
                         "120178"),
                test.Row("0000000001"
                         "00"
                         "120101"
                         "0803"),
                test.Row("0000000001"
                         "00"
                         "08")};
  };
  const Rows fast = rows();
  {
    const ScopedPerfSwitch off(PerfSwitch::kProtobufSchemaCache, true);
    EXPECT_EQ(rows(), fast);
  }
  const ScopedPerfSwitch off(PerfSwitch::kFieldOrderCache, true);
  EXPECT_EQ(rows(), fast);
}

TEST(ProtobufDecoder, FieldCapCutsColumnsNotRows) {
  DecodeOptions options =
      WithSchema("message M { int32 a=1; string b=2; repeated int32 c=3; P p=4; } message P { int32 x=1; }");
  ProtobufUnderTest test(options, {.max_fields = 2});
  EXPECT_EQ(test.Row("0801"
                     "120178"
                     "1801"
                     "22020801"),
            "a=1 b=x");
  EXPECT_EQ(test.counters().fields_cut, 2u);
}

}  // namespace
}  // namespace kafscope
