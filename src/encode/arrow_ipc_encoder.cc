#include "encode/arrow_ipc_encoder.h"

#include <flatbuffers/flatbuffers.h>

#include <vector>

namespace kafscope {

namespace {

// The tables of Arrow's Message.fbs and Schema.fbs, as far as they are written here: a table's fields by their slots.
//   Message      0 version:int16  1 header_type:uint8  2 header  3 bodyLength:int64
//   Schema       0 endianness:int16  1 fields:[Field]  2 custom_metadata:[KeyValue]
//   Field        0 name  1 nullable:bool  2 type_type:uint8  3 type  4 dictionary  5 children:[Field]
//                6 custom_metadata:[KeyValue]
//   KeyValue     0 key  1 value
//   Int          0 bitWidth:int32  1 is_signed:bool
//   FloatingPoint  0 precision:int16        Timestamp  0 unit:int16  1 timezone
//   RecordBatch  0 length:int64  1 nodes:[FieldNode]  2 buffers:[Buffer]
using flatbuffers::FlatBufferBuilder;
using Table = flatbuffers::Offset<void>;

constexpr flatbuffers::voffset_t Slot(int n) { return static_cast<flatbuffers::voffset_t>(4 + 2 * n); }

constexpr int16_t kVersion5 = 4;
constexpr uint8_t kSchemaHeader = 1;
constexpr uint8_t kRecordBatchHeader = 3;
constexpr int16_t kDoublePrecision = 2;
constexpr int16_t kNanoseconds = 3;
constexpr size_t kAlignment = 8;
constexpr std::string_view kEndOfStream("\xff\xff\xff\xff\0\0\0\0", 8);

enum class ArrowType : uint8_t { kNull = 1, kInt = 2, kFloat = 3, kBinary = 4, kUtf8 = 5, kBool = 6, kTimestamp = 10 };

struct FieldNode {
  int64_t length;
  int64_t null_count;
};
struct BufferRange {
  int64_t offset;
  int64_t length;
};

size_t Padded(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

ArrowType ArrowTypeOf(DataType type) {
  switch (type) {
    case DataType::kNull: return ArrowType::kNull;
    case DataType::kBool: return ArrowType::kBool;
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kUint64: return ArrowType::kInt;
    case DataType::kFloat64: return ArrowType::kFloat;
    case DataType::kTime: return ArrowType::kTimestamp;
    case DataType::kString: return ArrowType::kUtf8;
    case DataType::kBytes: return ArrowType::kBinary;
  }
  return ArrowType::kNull;
}

Table MakeType(DataType type, FlatBufferBuilder& builder) {
  flatbuffers::Offset<flatbuffers::String> zone;
  if (type == DataType::kTime) zone = builder.CreateString("UTC");
  const auto start = builder.StartTable();
  switch (ArrowTypeOf(type)) {
    case ArrowType::kInt:
      builder.AddElement<int32_t>(Slot(0), type == DataType::kInt32 ? 32 : 64, 0);
      builder.AddElement<uint8_t>(Slot(1), type == DataType::kUint64 ? 0 : 1, 0);
      break;
    case ArrowType::kFloat: builder.AddElement<int16_t>(Slot(0), kDoublePrecision, 0); break;
    case ArrowType::kTimestamp:
      builder.AddElement<int16_t>(Slot(0), kNanoseconds, 0);
      builder.AddOffset(Slot(1), zone);
      break;
    case ArrowType::kNull:
    case ArrowType::kBinary:
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

Table MakeField(const Field& field, FlatBufferBuilder& builder) {
  const auto name = builder.CreateString(field.name);
  const Table type = MakeType(field.type, builder);
  const auto children = builder.CreateVector(std::vector<Table>());  // some readers demand it
  std::vector<Table> pairs = {MakeKeyValue("kafscope.role", FieldRoleName(field.role), builder)};
  if (field.wide_integers) pairs.push_back(MakeKeyValue("kafscope.wide_integers", "true", builder));
  const auto metadata = builder.CreateVector(pairs);
  const auto start = builder.StartTable();
  builder.AddOffset(Slot(0), name);
  builder.AddElement<uint8_t>(Slot(1), 1, 0);
  builder.AddElement<uint8_t>(Slot(2), static_cast<uint8_t>(ArrowTypeOf(field.type)), 0);
  builder.AddOffset(Slot(3), type);
  builder.AddOffset(Slot(5), children);
  builder.AddOffset(Slot(6), metadata);
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

// The message head: continuation mark, size, flatbuffer, padding.
void AppendMessage(const FlatBufferBuilder& builder, std::string* out) {
  const size_t size = builder.GetSize();
  const auto padded = static_cast<uint32_t>(Padded(size));
  const uint32_t prefix[2] = {0xffffffff, padded};
  out->append(reinterpret_cast<const char*>(prefix), sizeof(prefix));
  out->append(reinterpret_cast<const char*>(builder.GetBufferPointer()), size);
  out->append(padded - size, '\0');
}

}  // namespace

std::string_view FieldRoleName(FieldRole role) {
  switch (role) {
    case FieldRole::kTime: return "time";
    case FieldRole::kPartition: return "partition";
    case FieldRole::kOffset: return "offset";
    case FieldRole::kKey: return "key";
    case FieldRole::kHeader: return "header";
    case FieldRole::kValue: return "value";
    case FieldRole::kError: return "error";
  }
  return "value";
}

struct ArrowIpcEncoder::Impl {
  FlatBufferBuilder builder;
  std::shared_ptr<const Schema> schema;
  std::string schema_message;  // of schema
  std::vector<FieldNode> nodes;
  std::vector<BufferRange> ranges;
  std::vector<const void*> sources;  // what each range copies
  size_t body_size = 0;

  // True if the schema is another one.
  bool UseSchema(const std::shared_ptr<const Schema>& next);
  void AddRange(const void* source, size_t size);
  void LayOut(const Frame& frame);
  void AppendBatch(const Frame& frame, std::string* out);
};

bool ArrowIpcEncoder::Impl::UseSchema(const std::shared_ptr<const Schema>& next) {
  if (schema == next) return false;
  schema = next;
  builder.Clear();
  std::vector<Table> fields;
  fields.reserve(next->num_fields());
  for (const Field& field : next->fields()) fields.push_back(MakeField(field, builder));
  const auto field_vector = builder.CreateVector(fields);
  const std::vector<Table> pairs = {MakeKeyValue("kafscope.schema_version", std::to_string(next->version()), builder)};
  const auto metadata = builder.CreateVector(pairs);
  const auto start = builder.StartTable();
  builder.AddOffset(Slot(1), field_vector);
  builder.AddOffset(Slot(2), metadata);
  FinishMessage(kSchemaHeader, {builder.EndTable(start)}, 0, builder);
  schema_message.clear();
  AppendMessage(builder, &schema_message);
  return true;
}

void ArrowIpcEncoder::Impl::AddRange(const void* source, size_t size) {
  ranges.push_back({static_cast<int64_t>(body_size), static_cast<int64_t>(size)});
  sources.push_back(source);
  body_size += Padded(size);
}

// Which bytes of the frame form the body: validity (none without nulls), values or offsets, text.
void ArrowIpcEncoder::Impl::LayOut(const Frame& frame) {
  static constexpr uint32_t kNoOffsets[1] = {0};
  nodes.clear();
  ranges.clear();
  sources.clear();
  body_size = 0;
  const size_t rows = frame.num_rows();
  const size_t bitmap_size = (rows + 7) / 8;
  for (size_t i = 0; i < frame.num_columns(); ++i) {
    const ColumnData& column = frame.column(i);
    const size_t nulls = column.type == DataType::kNull ? rows : column.null_count;
    nodes.push_back({static_cast<int64_t>(rows), static_cast<int64_t>(nulls)});
    if (column.type == DataType::kNull) continue;
    AddRange(column.validity.data(), nulls == 0 ? 0 : bitmap_size);
    switch (column.type) {
      case DataType::kNull: break;
      case DataType::kBool: AddRange(column.values.data(), bitmap_size); break;
      case DataType::kInt32: AddRange(column.values.data(), rows * sizeof(int32_t)); break;
      case DataType::kInt64:
      case DataType::kUint64:
      case DataType::kFloat64:
      case DataType::kTime: AddRange(column.values.data(), rows * sizeof(int64_t)); break;
      case DataType::kString:
      case DataType::kBytes:
        AddRange(rows == 0 ? static_cast<const void*>(kNoOffsets) : column.values.data(),
                 (rows + 1) * sizeof(uint32_t));
        AddRange(column.data.data(), rows == 0 ? 0 : column.data_size);
        break;
    }
  }
}

void ArrowIpcEncoder::Impl::AppendBatch(const Frame& frame, std::string* out) {
  LayOut(frame);
  builder.Clear();
  const auto buffer_vector = builder.CreateVectorOfStructs(ranges.data(), ranges.size());
  const auto node_vector = builder.CreateVectorOfStructs(nodes.data(), nodes.size());
  const auto start = builder.StartTable();
  builder.AddElement<int64_t>(Slot(0), static_cast<int64_t>(frame.num_rows()), 0);
  builder.AddOffset(Slot(1), node_vector);
  builder.AddOffset(Slot(2), buffer_vector);
  FinishMessage(kRecordBatchHeader, {builder.EndTable(start)}, body_size, builder);
  out->reserve(out->size() + sizeof(uint64_t) + Padded(builder.GetSize()) + body_size + kEndOfStream.size());
  AppendMessage(builder, out);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto size = static_cast<size_t>(ranges[i].length);
    if (size == 0) continue;
    out->append(static_cast<const char*>(sources[i]), size);
    out->append(Padded(size) - size, '\0');
  }
}

ArrowIpcEncoder::ArrowIpcEncoder(ArrowMode mode) : mode_(mode), impl_(std::make_unique<Impl>()) {}

ArrowIpcEncoder::~ArrowIpcEncoder() = default;

void ArrowIpcEncoder::Encode(const Frame& frame, std::string* out) {
  const bool new_schema = impl_->UseSchema(frame.shared_schema());
  if (mode_ == ArrowMode::kSelfContained) {
    out->append(impl_->schema_message);
    impl_->AppendBatch(frame, out);
    out->append(kEndOfStream);
    return;
  }
  if (new_schema || !open_) {
    if (open_) out->append(kEndOfStream);
    out->append(impl_->schema_message);
    open_ = true;
  }
  impl_->AppendBatch(frame, out);
}

void ArrowIpcEncoder::Finish(std::string* out) {
  if (open_) out->append(kEndOfStream);
  open_ = false;
}

}  // namespace kafscope
