#include "cli/table_writer.h"

#include <gtest/gtest.h>

#include "frame/frame_builder.h"

namespace kafscope {
namespace {

TEST(TableWriter, AlignsCellsAndEscapesControls) {
  FrameBuilder builder(FrameBuilder::Options{});
  Column* number = builder.FindOrAddColumn("n", FieldRole::kValue);
  Column* text = builder.FindOrAddColumn("text", FieldRole::kValue);
  builder.BeginRow();
  number->AppendInt64(9223372036854775807);
  text->AppendString("a\n\x1b[31mé");
  builder.CommitRow();
  builder.BeginRow();
  number->AppendInt64(-1);
  builder.CommitRow();
  TableWriter writer;
  std::string out;
  writer.Encode(*builder.Finish(), &out);
  EXPECT_EQ(out,
            "                  n  text\n"
            "9223372036854775807  a\\n\\x1b[31mé\n"
            "                 -1  -\n");

  // The heading comes again when the columns change.
  builder.BeginRow();
  builder.FindOrAddColumn("z", FieldRole::kValue)->AppendBool(true);
  builder.CommitRow();
  out.clear();
  writer.Encode(*builder.Finish(), &out);
  EXPECT_EQ(out.substr(0, 1), "\n");
  EXPECT_NE(out.find("z\n"), std::string::npos);
  EXPECT_NE(out.find("true\n"), std::string::npos);
}

TEST(TableWriter, CutsLongTexts) {
  FrameBuilder builder(FrameBuilder::Options{});
  builder.BeginRow();
  builder.FindOrAddColumn("t", FieldRole::kValue)->AppendString(std::string(100, 'x'));
  builder.CommitRow();
  EXPECT_EQ(TableCell(builder.Finish()->column(0), 0), std::string(48, 'x') + "…");
}

}  // namespace
}  // namespace kafscope
