#include "encode/arrow_ipc_encoder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "encode/frame_reference.h"

namespace kafscope {
namespace {

// Whole reading is tested with pyarrow (tests/frames); here the shape of the messages is.
struct Message {
  bool end = false;
  size_t head_size = 0;
  std::string_view head;
};

// Takes one message head from the front.
Message TakeHead(std::string_view& bytes) {
  uint32_t prefix[2] = {};
  EXPECT_GE(bytes.size(), sizeof(prefix));
  std::memcpy(prefix, bytes.data(), sizeof(prefix));
  EXPECT_EQ(prefix[0], 0xffffffff);
  EXPECT_EQ(prefix[1] % 8, 0u);
  Message message{prefix[1] == 0, prefix[1], bytes.substr(8, prefix[1])};
  bytes.remove_prefix(8 + prefix[1]);
  return message;
}

// The value of a scalar field of the root table, or `absent`.
template <typename T>
T RootField(std::string_view head, int slot, T absent) {
  const auto read = [head]<typename V>(size_t at, V) {
    V value;
    std::memcpy(&value, head.data() + at, sizeof(value));
    return value;
  };
  const size_t table = read(0, uint32_t{});
  const auto vtable = static_cast<size_t>(static_cast<int64_t>(table) - read(table, int32_t{}));
  const size_t entry = 4 + 2 * static_cast<size_t>(slot);
  if (entry >= read(vtable, uint16_t{})) return absent;
  const uint16_t offset = read(vtable + entry, uint16_t{});
  return offset == 0 ? absent : read(table + offset, absent);
}

uint8_t HeaderType(const Message& message) { return RootField<uint8_t>(message.head, 1, 0); }
int64_t BodySize(const Message& message) { return RootField<int64_t>(message.head, 3, 0); }

FramePtr OneRow(FrameBuilder& builder, const char* column) {
  builder.BeginRow();
  builder.FindOrAddColumn(column, FieldRole::kValue)->AppendString("text");
  builder.CommitRow();
  return builder.Finish();
}

TEST(ArrowIpc, OneStreamUntilTheSchemaChanges) {
  FrameBuilder builder({});
  ArrowIpcEncoder encoder;
  std::string out;
  encoder.Finish(&out);
  EXPECT_TRUE(out.empty());
  encoder.Encode(*OneRow(builder, "a"), &out);
  encoder.Encode(*OneRow(builder, "a"), &out);
  encoder.Encode(*OneRow(builder, "b"), &out);
  encoder.Finish(&out);
  std::string kinds;
  for (std::string_view rest = out; !rest.empty();) {
    const Message message = TakeHead(rest);
    if (message.end) {
      kinds += 'E';
      continue;
    }
    kinds += HeaderType(message) == 1 ? 'S' : 'B';
    EXPECT_EQ(RootField<int16_t>(message.head, 0, 0), 4);
    EXPECT_EQ(BodySize(message) % 8, 0);
    rest.remove_prefix(static_cast<size_t>(BodySize(message)));
  }
  EXPECT_EQ(kinds, "SBBESBE");
}

TEST(ArrowIpc, SelfContainedStreams) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    ArrowIpcEncoder encoder(ArrowMode::kSelfContained);
    for (const FramePtr& frame : RandomFrames(seed)) {
      std::string out;
      encoder.Encode(*frame, &out);
      encoder.Finish(&out);
      std::string_view rest = out;
      EXPECT_EQ(HeaderType(TakeHead(rest)), 1);
      const Message batch = TakeHead(rest);
      EXPECT_EQ(HeaderType(batch), 3);
      ASSERT_GE(rest.size(), static_cast<size_t>(BodySize(batch)));
      rest.remove_prefix(static_cast<size_t>(BodySize(batch)));
      EXPECT_TRUE(TakeHead(rest).end);
      EXPECT_TRUE(rest.empty());
    }
  }
}

TEST(ArrowIpc, ValuesStandInTheBodyAsTheyAre) {
  FrameBuilder builder({});
  Column* id = builder.FindOrAddColumn("id", FieldRole::kValue);
  for (const int64_t value : {int64_t{9223372036854775807}, int64_t{-2}}) {
    builder.BeginRow();
    id->AppendInt64(value);
    builder.CommitRow();
  }
  ArrowIpcEncoder encoder;
  std::string out;
  encoder.Encode(*builder.Finish(), &out);
  std::string_view rest = out;
  TakeHead(rest);
  const Message batch = TakeHead(rest);
  ASSERT_EQ(BodySize(batch), 16);
  ASSERT_EQ(rest.size(), 16u);
  int64_t values[2];
  std::memcpy(values, rest.data(), sizeof(values));
  EXPECT_EQ(values[0], 9223372036854775807);
  EXPECT_EQ(values[1], -2);
}

}  // namespace
}  // namespace kafscope
