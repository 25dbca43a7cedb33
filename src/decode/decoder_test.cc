#include "decode/decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frame/widen.h"

namespace kafscope {
namespace {

std::string Rows(const DecodeOptions& options, const std::vector<std::string>& values) {
  auto decoder = MakeDecoder(options);
  if (!decoder) return decoder.error().ToString();
  FrameBuilder builder({});
  std::vector<ConsumerRecord> records;
  for (size_t i = 0; i < values.size(); ++i) {
    ConsumerRecord record;
    record.value = values[i];
    record.has_value = true;
    record.offset = static_cast<int64_t>(i);
    record.timestamp_ms = 0;
    records.push_back(record);
  }
  EXPECT_EQ((*decoder)->Decode(records, 0, builder), records.size());
  const FramePtr frame = builder.Finish();
  std::string out;
  for (size_t row = 0; row < frame->num_rows(); ++row) {
    for (size_t c = 0; c < frame->num_columns(); ++c) {
      const Field& field = frame->schema().fields()[c];
      if (field.role != FieldRole::kValue && field.role != FieldRole::kError) continue;
      if (frame->column(c).IsNull(row)) continue;
      out.append(field.name).append("=");
      AppendValueText(frame->column(c), row, &out);
      out.append(" ");
    }
    out.append("\n");
  }
  return out;
}

TEST(JsonDecoder, FlattensAndKeepsDigits) {
  EXPECT_EQ(Rows({}, {R"({"b":{"c":1,"d":[1, 2]},"a":"x\u0041\n","id":12345678901234801,"f":1.5,"t":true,"n":null})"}),
            "a=xA\n b.c=1 b.d=[1, 2] f=1.5 id=12345678901234801 t=true \n");
}

TEST(JsonDecoder, ErrorsAreRows) {
  EXPECT_EQ(Rows({}, {R"({"a":1})", R"({"a":1 "b":2})", R"({"a":2})"}),
            "a=1 \nerror=invalid_json at byte 7: expected ',' or '}' \na=2 \n");
}

TEST(PlaintextDecoder, ReplacesInvalidUtf8) {
  EXPECT_EQ(Rows({.format = Format::kPlaintext}, {"abc", "",
                                                  "\xff"
                                                  "a"}),
            "message=abc \nmessage= \nmessage=\xEF\xBF\xBD"
            "a \n");
}

}  // namespace
}  // namespace kafscope
