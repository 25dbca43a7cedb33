#include "encode/row_json_writer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "encode/frame_reference.h"

namespace kafscope {
namespace {

TEST(RowJson, ExactText) {
  FrameBuilder builder({});
  Column* time = builder.FindOrAddColumn("time", FieldRole::kTime);
  Column* big = builder.FindOrAddColumn("big", FieldRole::kValue);
  Column* bytes = builder.FindOrAddColumn("bytes", FieldRole::kValue);
  Column* number = builder.FindOrAddColumn("number", FieldRole::kValue);
  Column* text = builder.FindOrAddColumn("te\"xt", FieldRole::kValue);
  builder.FindOrAddColumn("unseen", FieldRole::kValue);
  builder.BeginRow();
  time->AppendTime(1'700'000'000'000'120'000);
  big->AppendUint64(18446744073709551615u);
  bytes->AppendBytes(std::string_view("\xff\x00", 2));
  number->AppendFloat64(21.5);
  text->AppendString("grüße\t");
  builder.CommitRow();
  builder.BeginRow();
  number->AppendFloat64(-std::numeric_limits<double>::infinity());
  builder.CommitRow();
  RowJsonWriter writer;
  std::string out;
  writer.Encode(*builder.Finish(), &out);
  EXPECT_EQ(out, R"({"time":"2023-11-14T22:13:20.000120Z","big":18446744073709551615,"bytes":"/wA=","number":21.5,)"
                 "\"te\\\"xt\":\"grüße\\t\",\"unseen\":null}\n"
                 R"({"time":null,"big":null,"bytes":null,"number":"-Infinity","te\"xt":null,"unseen":null})"
                 "\n");
}

TEST(RowJson, RandomFramesEqualTheReference) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RowJsonWriter writer;
    for (const FramePtr& frame : RandomFrames(seed)) {
      std::string out;
      writer.Encode(*frame, &out);
      std::istringstream lines(out);
      std::string line;
      for (const nlohmann::ordered_json& row : ReferenceRows(*frame)) {
        ASSERT_TRUE(std::getline(lines, line));
        ASSERT_EQ(nlohmann::ordered_json::parse(line), row) << seed;  // the order of the columns too
      }
      ASSERT_FALSE(std::getline(lines, line));
    }
  }
}

}  // namespace
}  // namespace kafscope
