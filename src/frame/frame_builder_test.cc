#include "frame/frame_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "frame/widen.h"

namespace kafscope {
namespace {

constexpr int64_t kWide = (int64_t{1} << 53) + 1;

std::vector<std::string> Names(const Frame& frame) {
  std::vector<std::string> names;
  for (const Field& field : frame.schema().fields()) names.push_back(field.name);
  return names;
}

std::optional<std::string> Text(const Frame& frame, std::string_view name, size_t row) {
  const ColumnData& column = frame.column(static_cast<size_t>(frame.schema().IndexOf(name)));
  if (column.IsNull(row)) return std::nullopt;
  std::string text;
  AppendValueText(column, row, &text);
  return text;
}

DataType TypeOf(const Frame& frame, std::string_view name) {
  return frame.schema().fields()[static_cast<size_t>(frame.schema().IndexOf(name))].type;
}

Column* Value(FrameBuilder& builder, std::string_view name) { return builder.FindOrAddColumn(name, FieldRole::kValue); }

TEST(FrameBuilder, ColumnsStandInDisplayOrder) {
  FrameBuilder builder({});
  builder.BeginRow();
  Value(builder, "b")->AppendInt64(1);
  builder.FindOrAddColumn("error", FieldRole::kError)->AppendString("e");
  Value(builder, "a")->AppendInt64(2);
  builder.FindOrAddColumn("key.z", FieldRole::kKey)->AppendString("k");
  builder.FindOrAddColumn("offset", FieldRole::kOffset)->AppendInt64(3);
  builder.FindOrAddColumn("time", FieldRole::kTime)->AppendTime(4);
  builder.CommitRow();
  EXPECT_EQ(Names(*builder.Finish()), (std::vector<std::string>{"time", "offset", "key.z", "a", "b", "error"}));
  builder.BeginRow();
  Value(builder, "0")->AppendInt64(1);
  builder.CommitRow();
  const FramePtr second = builder.Finish();
  EXPECT_EQ(Names(*second), (std::vector<std::string>{"time", "offset", "key.z", "a", "b", "error", "0"}));
  EXPECT_EQ(second->schema().version(), 2u);
  EXPECT_EQ(Text(*second, "a", 0), std::nullopt);
}

TEST(FrameBuilder, FirstSeenOrderOnRequest) {
  FrameBuilder builder({.sort_value_columns = false});
  builder.BeginRow();
  Value(builder, "b")->AppendInt64(1);
  Value(builder, "a")->AppendInt64(1);
  builder.CommitRow();
  EXPECT_EQ(Names(*builder.Finish()), (std::vector<std::string>{"b", "a"}));
}

TEST(FrameBuilder, RunsEqualRowsOneByOne) {
  const auto fill = [](bool run) {
    FrameBuilder builder({.sort_value_columns = false});
    Column* time = builder.FindOrAddColumn("time", FieldRole::kTime);
    Column* partition = builder.FindOrAddColumn("partition", FieldRole::kPartition);
    partition->SetInt32();
    Column* offset = builder.FindOrAddColumn("offset", FieldRole::kOffset);
    Column* shared = Value(builder, "shared");
    Column* own = Value(builder, "own");
    for (uint32_t record = 0; record < 40; ++record) {
      const uint32_t rows = 1 + record % 9;
      const std::string text(record, static_cast<char>('a' + record % 26));  // empty, short and long
      if (run) {
        builder.BeginRun(rows);
        time->AppendTimeRun(record, rows);
        partition->AppendInt32Run(-7, rows);
        offset->AppendInt64Run(record, rows);
        if (record % 5 != 4) shared->AppendStringRun(text, rows);
      }
      for (uint32_t row = 0; row < rows; ++row) {
        if (!run) {
          builder.BeginRow();
          time->AppendTime(record);
          partition->AppendInt32(-7);
          offset->AppendInt64(record);
          if (record % 5 != 4) shared->AppendString(text);
        }
        if (row % 2 == 0) own->AppendInt64(row);
        if (run) {
          builder.NextRow();
        } else {
          builder.CommitRow();
        }
      }
      if (run) builder.EndRun(rows);
    }
    return builder.Finish();
  };
  const FramePtr by_row = fill(false);
  const FramePtr by_run = fill(true);
  ASSERT_EQ(by_row->num_rows(), by_run->num_rows());
  ASSERT_EQ(Names(*by_row), Names(*by_run));
  for (const std::string& name : Names(*by_row)) {
    for (size_t row = 0; row < by_row->num_rows(); ++row) {
      ASSERT_EQ(Text(*by_row, name, row), Text(*by_run, name, row)) << name << row;
    }
  }
}

TEST(FrameBuilder, RowsThatTouchNothingHoldNull) {
  FrameBuilder builder({});
  Column* text = nullptr;
  for (int row = 0; row < 100; ++row) {
    builder.BeginRow();
    if (row == 40) text = Value(builder, "late");
    if (row >= 40 && row % 3 == 0) text->AppendString(std::to_string(row));
    builder.CommitRow();
  }
  const FramePtr frame = builder.Finish();
  for (size_t row = 0; row < 100; ++row) {
    const bool set = row >= 40 && row % 3 == 0;
    EXPECT_EQ(Text(*frame, "late", row), set ? std::optional(std::to_string(row)) : std::nullopt) << row;
  }
  EXPECT_EQ(frame->column(0).null_count, 80u);
}

TEST(FrameBuilder, ASecondValueReplacesTheFirst) {
  FrameBuilder builder({});
  builder.BeginRow();
  Column* column = Value(builder, "a");
  column->AppendString("first");
  column->AppendString("2");
  Column* other = Value(builder, "b");
  other->AppendInt64(1);
  other->AppendFloat64(1.5);
  Column* gone = Value(builder, "c");
  gone->AppendInt64(7);
  gone->AppendNull();
  builder.CommitRow();
  const FramePtr frame = builder.Finish();
  EXPECT_EQ(Text(*frame, "a", 0), "2");
  EXPECT_EQ(Text(*frame, "b", 0), "1.5");
  EXPECT_EQ(Text(*frame, "c", 0), std::nullopt);
  EXPECT_EQ(frame->column(2).Int64(0), 0);
}

TEST(FrameBuilder, AbortTakesBackColumnsValuesAndPromotions) {
  FrameBuilder builder({});
  builder.BeginRow();
  Column* a = Value(builder, "a");
  a->AppendInt64(kWide);
  builder.CommitRow();
  const uint64_t generation = builder.generation();
  builder.BeginRow();
  a->AppendString("text");
  Value(builder, "new")->AppendBool(true);
  builder.AbortRow();
  EXPECT_GT(builder.generation(), generation);
  EXPECT_EQ(a->type(), DataType::kInt64);
  EXPECT_EQ(builder.FindColumn("new"), nullptr);
  builder.BeginRow();
  builder.CommitRow();
  const FramePtr frame = builder.Finish();
  EXPECT_EQ(Names(*frame), std::vector<std::string>{"a"});
  EXPECT_EQ(Text(*frame, "a", 0), std::to_string(kWide));
  EXPECT_EQ(Text(*frame, "a", 1), std::nullopt);
}

TEST(FrameBuilder, TheFieldCapCountsEachNameOnce) {
  FrameBuilder builder({.max_fields = 2});
  for (int row = 0; row < 3; ++row) {
    builder.BeginRow();
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      if (Column* column = Value(builder, name); column != nullptr) column->AppendInt64(row);
    }
    EXPECT_NE(builder.FindOrAddColumn("error", FieldRole::kError), nullptr);
    builder.CommitRow();
  }
  EXPECT_EQ(builder.fields_cut(), 3u);
  EXPECT_EQ(Names(*builder.Finish()), (std::vector<std::string>{"a", "b", "error"}));
}

TEST(FrameBuilder, FullByRowsAndByBytes) {
  FrameBuilder builder({.max_rows = 2, .max_bytes = 1000});
  for (int row = 0; row < 2; ++row) {
    EXPECT_FALSE(builder.Full());
    builder.BeginRow();
    builder.CommitRow();
  }
  EXPECT_TRUE(builder.Full());
  builder.Finish();
  EXPECT_FALSE(builder.Full());
  builder.AddBytes(1000);
  EXPECT_TRUE(builder.Full());
}

TEST(FrameBuilder, WideIntegersAreMarkedForTheRestOfTheStream) {
  FrameBuilder builder({});
  Column* a = nullptr;
  for (const int64_t value : {int64_t{1}, kWide, int64_t{2}}) {
    builder.BeginRow();
    a = Value(builder, "a");
    a->AppendInt64(value);
    builder.CommitRow();
    const FramePtr frame = builder.Finish();
    EXPECT_EQ(frame->schema().fields()[0].wide_integers, value != 1);
  }
}

TEST(FrameBuilder, StorageComesBack) {
  FrameBuilder builder({});
  const auto fill = [&builder] {
    builder.BeginRow();
    Value(builder, "a")->AppendString("text");
    builder.CommitRow();
    return builder.Finish();
  };
  const Frame* first = fill().get();
  EXPECT_EQ(fill().get(), first);
  const FramePtr held = fill();
  EXPECT_NE(fill().get(), held.get());
  EXPECT_EQ(Text(*held, "a", 0), "text");
}

TEST(FrameBuilder, FramesOutliveTheirBuilder) {
  FramePtr frame;
  {
    FrameBuilder builder({});
    builder.BeginRow();
    Value(builder, "a")->AppendString("text");
    builder.CommitRow();
    frame = builder.Finish();
  }
  EXPECT_EQ(Text(*frame, "a", 0), "text");
}

// The pairs of docs/values.md.
TEST(Widen, TableOfPairs) {
  struct Case {
    DataType column;
    ColumnHistory history;
    DataType value;
    bool negative;
    bool wide;
    DataType expected;
  };
  using enum DataType;
  const Case cases[] = {
      {kNull, {}, kBool, false, false, kBool},
      {kInt64, {}, kUint64, false, true, kUint64},
      {kInt64, {.negative = true}, kUint64, false, true, kString},
      {kUint64, {}, kInt64, true, false, kFloat64},
      {kUint64, {.wide = true}, kInt64, true, false, kString},
      {kInt64, {}, kFloat64, false, false, kFloat64},
      {kInt64, {.wide = true}, kFloat64, false, false, kString},
      {kFloat64, {}, kInt64, false, false, kFloat64},
      {kFloat64, {}, kInt64, false, true, kString},
      {kFloat64, {}, kUint64, false, true, kString},
      {kBool, {}, kInt64, false, false, kString},
      {kBool, {}, kFloat64, false, false, kString},
      {kTime, {}, kInt64, false, false, kString},
      {kBytes, {}, kString, false, false, kString},
      {kString, {}, kBytes, false, false, kString},
      {kString, {}, kInt64, false, false, kString},
      {kInt64, {}, kString, false, false, kString},
      {kInt64, {}, kNull, false, false, kInt64},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(WidenedType(c.column, c.history, c.value, c.negative, c.wide), c.expected)
        << DataTypeName(c.column) << " + " << DataTypeName(c.value);
  }
}

// Against a slow model: the text of every value that was appended and kept.
TEST(FrameBuilder, RandomRowsEqualTheModel) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    FrameBuilder builder({.max_rows = 0});
    std::map<std::string, std::map<size_t, std::string>> expected;  // column → row → text as appended
    std::map<std::string, Column*> plan;
    size_t rows = 0;
    std::vector<FramePtr> frames;
    const size_t total = random() % 150;
    for (size_t i = 0; i < total; ++i) {
      builder.BeginRow();
      std::map<std::string, std::string> row;
      for (int field = 0; field < 6; ++field) {
        if (random() % 3 == 0) continue;
        const std::string name(1, static_cast<char>('a' + field));
        if (!plan.contains(name)) plan[name] = Value(builder, name);
        Column& column = *plan[name];
        // Each column has a favourite type; another type comes seldom, always text, which every column can take.
        if (random() % 40 == 0) {
          column.AppendString("x" + std::to_string(i));
          row[name] = "x" + std::to_string(i);
          continue;
        }
        switch (field) {
          case 0:
            column.AppendBool(i % 2 == 0);
            row[name] = i % 2 == 0 ? "true" : "false";
            break;
          case 1:
            column.AppendInt64(-static_cast<int64_t>(i));
            row[name] = std::to_string(-static_cast<int64_t>(i));
            break;
          case 2:
            column.AppendUint64(i);
            row[name] = std::to_string(i);
            break;
          case 3:
            column.AppendFloat64(static_cast<double>(i) + 0.5);
            row[name] = std::to_string(i) + ".5";
            break;
          case 4:
            column.AppendString(std::string(i % 40, 's'));
            row[name] = std::string(i % 40, 's');
            break;
          default:
            column.AppendBytes("ab");
            row[name] = "YWI=";
            break;
        }
      }
      if (random() % 8 == 0) {
        const uint64_t generation = builder.generation();
        builder.AbortRow();
        if (builder.generation() != generation) {
          std::erase_if(plan, [&builder](const auto& entry) { return builder.FindColumn(entry.first) == nullptr; });
        }
      } else {
        for (const auto& [name, text] : row) expected[name][rows] = text;
        builder.CommitRow();
        ++rows;
      }
      if (random() % 20 == 0) frames.push_back(builder.Finish());
    }
    frames.push_back(builder.Finish());
    size_t base = 0;
    for (const FramePtr& frame : frames) {
      for (size_t c = 0; c < frame->num_columns(); ++c) {
        const std::string& name = frame->schema().fields()[c].name;
        uint32_t nulls = 0;
        for (size_t row = 0; row < frame->num_rows(); ++row) {
          const auto text = Text(*frame, name, row);
          const auto& cells = expected[name];
          const auto cell = cells.find(base + row);
          if (cell == cells.end()) {
            EXPECT_EQ(text, std::nullopt) << seed << " " << name << " " << base + row;
            ++nulls;
          } else {
            EXPECT_EQ(text, cell->second) << seed << " " << name << " " << base + row;
          }
        }
        EXPECT_EQ(frame->column(c).null_count, nulls);
      }
      base += frame->num_rows();
    }
    EXPECT_EQ(base, rows);
  }
}

TEST(FrameBuilder, StringsWrittenInPlace) {
  FrameBuilder builder({});
  builder.BeginRow();
  Column* column = Value(builder, "a");
  column->AppendInt64(5);
  char* to = column->BeginString(100);
  std::memcpy(to, "abc", 3);
  column->EndString(3);
  builder.CommitRow();
  builder.BeginRow();
  to = column->BeginString(10);
  column->EndString(0);
  builder.CommitRow();
  const FramePtr frame = builder.Finish();
  EXPECT_EQ(Text(*frame, "a", 0), "abc");
  EXPECT_EQ(Text(*frame, "a", 1), "");
  EXPECT_EQ(TypeOf(*frame, "a"), DataType::kString);
}

}  // namespace
}  // namespace kafscope
