#include "grafana/answer_frame.h"

#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/base64.h"

namespace kafscope {

namespace {

// Slots of the tables as in encode/arrow_ipc_encoder.cc; Footer: 0 version, 1 schema, 2 dictionaries, 3 recordBatches.
using flatbuffers::FlatBufferBuilder;
using Table = flatbuffers::Offset<void>;

constexpr flatbuffers::voffset_t Slot(int n) { return static_cast<flatbuffers::voffset_t>(4 + 2 * n); }

constexpr int16_t kVersion5 = 4;
constexpr size_t kAlignment = 8;
constexpr std::string_view kMagic("ARROW1", 6);

enum class ArrowType : uint8_t { kInt = 2, kFloat = 3, kUtf8 = 5, kBool = 6, kTimestamp = 10 };

struct FieldNode {
  int64_t length;
  int64_t null_count;
};
struct BufferRange {
  int64_t offset;
  int64_t length;
};
struct Block {
  int64_t offset;
  int32_t metadata_size;
  int32_t padding;
  int64_t body_size;
};

size_t Padded(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

void Pad(std::string* out) { out->append(Padded(out->size()) - out->size(), '\0'); }

ArrowType ArrowTypeOf(DataType type) {
  switch (type) {
    case DataType::kBool: return ArrowType::kBool;
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kUint64: return ArrowType::kInt;
    case DataType::kFloat64: return ArrowType::kFloat;
    case DataType::kTime: return ArrowType::kTimestamp;
    case DataType::kNull:
    case DataType::kString:
    case DataType::kBytes: return ArrowType::kUtf8;
  }
  return ArrowType::kUtf8;
}

// What Grafana's front end calls the type.
const char* FrontEndType(DataType type) {
  switch (ArrowTypeOf(type)) {
    case ArrowType::kBool: return "boolean";
    case ArrowType::kInt:
    case ArrowType::kFloat: return "number";
    case ArrowType::kTimestamp: return "time";
    case ArrowType::kUtf8: return "string";
  }
  return "string";
}

Table MakeType(DataType type, FlatBufferBuilder& builder) {
  const auto start = builder.StartTable();
  switch (ArrowTypeOf(type)) {
    case ArrowType::kInt:
      builder.AddElement<int32_t>(Slot(0), type == DataType::kInt32 ? 32 : 64, 0);
      builder.AddElement<uint8_t>(Slot(1), type == DataType::kUint64 ? 0 : 1, 0);
      break;
    case ArrowType::kFloat: builder.AddElement<int16_t>(Slot(0), 2, 0); break;
    case ArrowType::kTimestamp: builder.AddElement<int16_t>(Slot(0), 3, 0); break;
    case ArrowType::kUtf8:
    case ArrowType::kBool: break;
  }
  return {builder.EndTable(start)};
}

Table MakeKeyValue(std::string_view key, std::string_view value, FlatBufferBuilder& builder) {
  const auto key_text = builder.CreateString(key.data(), key.size());
  const auto value_text = builder.CreateString(value.data(), value.size());
  const auto start = builder.StartTable();
  builder.AddOffset(Slot(0), key_text);
  builder.AddOffset(Slot(1), value_text);
  return {builder.EndTable(start)};
}

Table MakeField(const AnswerField& field, FlatBufferBuilder& builder) {
  const auto name = builder.CreateString(field.name);
  const Table type = MakeType(field.column->type, builder);
  const auto children = builder.CreateVector(std::vector<Table>());  // some readers demand it
  std::vector<Table> pairs = {MakeKeyValue("tstype", FrontEndType(field.column->type), builder)};
  if (!field.labels.empty()) pairs.push_back(MakeKeyValue("labels", nlohmann::json(field.labels).dump(), builder));
  if (!field.display_name.empty()) {
    const nlohmann::json config = {{"displayNameFromDS", field.display_name}};
    pairs.push_back(MakeKeyValue("config", config.dump(), builder));
  }
  const auto metadata = builder.CreateVector(pairs);
  const auto start = builder.StartTable();
  builder.AddOffset(Slot(0), name);
  builder.AddElement<uint8_t>(Slot(1), 1, 0);
  builder.AddElement<uint8_t>(Slot(2), static_cast<uint8_t>(ArrowTypeOf(field.column->type)), 0);
  builder.AddOffset(Slot(3), type);
  builder.AddOffset(Slot(5), children);
  builder.AddOffset(Slot(6), metadata);
  return {builder.EndTable(start)};
}

Table MakeSchema(const AnswerFrame& frame, FlatBufferBuilder& builder) {
  std::vector<Table> fields;
  for (const AnswerField& field : frame.fields) fields.push_back(MakeField(field, builder));
  std::vector<Table> pairs = {MakeKeyValue("name", frame.name, builder), MakeKeyValue("refId", frame.ref_id, builder)};
  if (!frame.meta_json.empty()) pairs.push_back(MakeKeyValue("meta", frame.meta_json, builder));
  const auto field_vector = builder.CreateVector(fields);
  const auto metadata = builder.CreateVector(pairs);
  const auto start = builder.StartTable();
  builder.AddElement<int16_t>(Slot(0), 0, 1);
  builder.AddOffset(Slot(1), field_vector);
  builder.AddOffset(Slot(2), metadata);
  return {builder.EndTable(start)};
}

void FinishMessage(uint8_t header_type, Table header, size_t body_size, FlatBufferBuilder& builder) {
  const auto start = builder.StartTable();
  builder.AddElement<int64_t>(Slot(3), static_cast<int64_t>(body_size), 0);
  builder.AddOffset(Slot(2), header);
  builder.AddElement<int16_t>(Slot(0), kVersion5, 0);
  builder.AddElement<uint8_t>(Slot(1), header_type, 0);
  builder.Finish(Table(builder.EndTable(start)));
}

// Gives the size of what was written, prefix and padding included.
size_t AppendMessage(const FlatBufferBuilder& builder, std::string* out) {
  const size_t size = builder.GetSize();
  const auto padded = static_cast<uint32_t>(Padded(size));
  const uint32_t prefix[2] = {0xffffffff, padded};
  out->append(reinterpret_cast<const char*>(prefix), sizeof(prefix));
  out->append(reinterpret_cast<const char*>(builder.GetBufferPointer()), size);
  out->append(padded - size, '\0');
  return sizeof(prefix) + padded;
}

class BodyWriter {
 public:
  explicit BodyWriter(const std::vector<uint32_t>& rows) : rows_(rows) {}

  void Append(const ColumnData& column) {
    int64_t nulls = 0;
    Begin();
    std::string bits((rows_.size() + 7) / 8, '\0');
    for (size_t i = 0; i < rows_.size(); ++i) {
      const bool valid = column.type != DataType::kNull && !column.IsNull(rows_[i]);
      if (valid) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
      nulls += valid ? 0 : 1;
    }
    if (nulls > 0) body_.append(bits);
    End();
    nodes.push_back({static_cast<int64_t>(rows_.size()), nulls});
    Begin();
    switch (ArrowTypeOf(column.type)) {
      case ArrowType::kBool: AppendBits(column); break;
      case ArrowType::kUtf8: AppendText(column); break;
      default: AppendFixed(column, column.type == DataType::kInt32 ? 4 : 8); break;
    }
    End();
  }

  std::vector<FieldNode> nodes;
  std::vector<BufferRange> buffers;
  const std::string& body() const { return body_; }

 private:
  void Begin() { begin_ = body_.size(); }
  void End() {
    buffers.push_back({static_cast<int64_t>(begin_), static_cast<int64_t>(body_.size() - begin_)});
    Pad(&body_);
  }
  void AppendBits(const ColumnData& column) {
    std::string bits((rows_.size() + 7) / 8, '\0');
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (column.Bool(rows_[i])) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
    }
    body_.append(bits);
  }
  void AppendFixed(const ColumnData& column, size_t width) {
    for (const uint32_t row : rows_) {
      body_.append(reinterpret_cast<const char*>(column.values.data()) + row * width, width);
    }
  }
  void AppendText(const ColumnData& column) {
    std::string text;
    std::vector<int32_t> offsets = {0};
    for (const uint32_t row : rows_) {
      if (column.type == DataType::kBytes) {
        text.append(ToBase64(column.Text(row)));
      } else if (column.type == DataType::kString) {
        text.append(column.Text(row));
      }
      offsets.push_back(static_cast<int32_t>(text.size()));
    }
    body_.append(reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof(int32_t));
    End();
    Begin();
    body_.append(text);
  }

  const std::vector<uint32_t>& rows_;
  std::string body_;
  size_t begin_ = 0;
};

}  // namespace

std::string WriteArrowFile(const AnswerFrame& frame) {
  std::string out(kMagic);
  out.append(2, '\0');
  FlatBufferBuilder builder;
  FinishMessage(1, MakeSchema(frame, builder), 0, builder);
  AppendMessage(builder, &out);

  BodyWriter body(frame.rows);
  for (const AnswerField& field : frame.fields) body.Append(*field.column);
  builder.Clear();
  const auto nodes = builder.CreateVectorOfStructs(body.nodes);
  const auto buffers = builder.CreateVectorOfStructs(body.buffers);
  const auto start = builder.StartTable();
  builder.AddElement<int64_t>(Slot(0), static_cast<int64_t>(frame.rows.size()), -1);
  builder.AddOffset(Slot(1), nodes);
  builder.AddOffset(Slot(2), buffers);
  const Table batch{builder.EndTable(start)};
  FinishMessage(3, batch, body.body().size(), builder);
  Block block{static_cast<int64_t>(out.size()), 0, 0, static_cast<int64_t>(body.body().size())};
  block.metadata_size = static_cast<int32_t>(AppendMessage(builder, &out));
  out.append(body.body());
  out.append("\xff\xff\xff\xff\0\0\0\0", 8);

  builder.Clear();
  const Table schema = MakeSchema(frame, builder);
  const auto dictionaries = builder.CreateVectorOfStructs(std::vector<Block>());
  const auto blocks = builder.CreateVectorOfStructs(std::vector<Block>{block});
  const auto footer = builder.StartTable();
  builder.AddOffset(Slot(1), schema);
  builder.AddOffset(Slot(2), dictionaries);
  builder.AddOffset(Slot(3), blocks);
  builder.AddElement<int16_t>(Slot(0), kVersion5, 0);
  builder.Finish(Table(builder.EndTable(footer)));
  out.append(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  const auto size = static_cast<int32_t>(builder.GetSize());
  out.append(reinterpret_cast<const char*>(&size), sizeof(size));
  return out.append(kMagic);
}

}  // namespace kafscope
