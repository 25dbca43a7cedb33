#include "decode/protobuf_plan.h"

#include <algorithm>
#include <bit>

#include "base/number_format.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

constexpr uint32_t kMaxTableNumber = 255;  // op numbers in Node::by_number are bytes

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

std::unique_ptr<ProtobufPlan> ProtobufPlan::Compile(std::shared_ptr<const ProtobufSchema> schema, uint32_t message,
                                                    Options options) {
  std::unique_ptr<ProtobufPlan> plan(new ProtobufPlan(std::move(schema), std::move(options)));
  plan->root_.index = message;
  plan->root_.message = &plan->schema_->message(message);
  plan->CompileNode(plan->root_);
  return plan;
}

ProtobufPlan::ProtobufPlan(std::shared_ptr<const ProtobufSchema> schema, Options options)
    : schema_(schema), options_(std::move(options)), text_(std::move(schema)) {}

ProtobufPlan::~ProtobufPlan() = default;

void ProtobufPlan::CompileNode(Node& node) {
  node.compiled = true;
  const std::vector<ProtobufField>& fields = node.message->fields;
  node.ops.resize(fields.size());
  num_ops_ += fields.size();
  for (size_t i = 0; i < fields.size(); ++i) {
    Op& op = node.ops[i];
    CompileField(node, fields[i], &op);
    const uint32_t number = fields[i].number;
    if (number <= kMaxTableNumber && i < UINT8_MAX) {
      if (node.by_number.size() <= number) node.by_number.resize(number + 1, 0);
      node.by_number[number] = static_cast<uint8_t>(i + 1);
    }
    if (op.oneof >= 0) {
      const auto oneof = static_cast<size_t>(op.oneof);
      if (node.oneofs.size() <= oneof) node.oneofs.resize(oneof + 1);
      node.oneofs[oneof].push_back(&op);
    }
    if (fields[i].presence || op.column == nullptr) continue;
    if (i < 64) {
      node.defaults |= uint64_t{1} << i;
    } else {
      node.defaults_beyond.push_back(static_cast<uint32_t>(i));
    }
  }
}

void ProtobufPlan::CompileField(Node& node, const ProtobufField& field, Op* op) {
  op->field = &field;
  op->oneof = static_cast<int16_t>(field.oneof);
  op->again = field.repeated;
  op->tag = field.number << 3 | static_cast<uint32_t>(field.wire());
  const std::string path = node.path.empty() ? field.name : node.path + "." + field.name;
  if (field.repeated) return MakeText(op, Code::kText, options_.column(path));
  switch (field.type) {
    case ProtobufType::kDouble: op->code = Code::kDouble; break;
    case ProtobufType::kFloat: op->code = Code::kFloat; break;
    case ProtobufType::kInt64: op->code = Code::kInt64; break;
    case ProtobufType::kUint64: op->code = Code::kUint64; break;
    case ProtobufType::kInt32: op->code = Code::kInt32; break;
    case ProtobufType::kFixed64: op->code = Code::kFixed64; break;
    case ProtobufType::kFixed32: op->code = Code::kFixed32; break;
    case ProtobufType::kBool: op->code = Code::kBool; break;
    case ProtobufType::kString: op->code = field.check_utf8 ? Code::kString : Code::kLooseString; break;
    case ProtobufType::kBytes: op->code = Code::kBytes; break;
    case ProtobufType::kUint32: op->code = Code::kUint32; break;
    case ProtobufType::kEnum: op->code = Code::kEnum; break;
    case ProtobufType::kSfixed32: op->code = Code::kSfixed32; break;
    case ProtobufType::kSfixed64: op->code = Code::kSfixed64; break;
    case ProtobufType::kSint32: op->code = Code::kSint32; break;
    case ProtobufType::kSint64: op->code = Code::kSint64; break;
    case ProtobufType::kGroup:
    case ProtobufType::kMessage: return CompileMessageField(node, field, path, op);
  }
  op->column = node.wrapped != nullptr ? node.wrapped : options_.column(path);
}

void ProtobufPlan::CompileMessageField(Node& node, const ProtobufField& field, const std::string& path, Op* op) {
  const ProtobufMessage& message = schema_->message(field.type_index);
  switch (message.well_known) {
    case ProtobufWellKnown::kTimestamp:
      op->code = Code::kTimestamp;
      op->column = options_.column(path);
      return;
    case ProtobufWellKnown::kDuration:
    case ProtobufWellKnown::kFieldMask: return MakeText(op, Code::kPlain, options_.column(path));
    case ProtobufWellKnown::kStruct:
    case ProtobufWellKnown::kValue:
    case ProtobufWellKnown::kListValue:
    case ProtobufWellKnown::kAny: return MakeText(op, Code::kText, options_.column(path));
    case ProtobufWellKnown::kWrapper:
    case ProtobufWellKnown::kNone: break;
  }
  const bool wrapper = message.well_known == ProtobufWellKnown::kWrapper;
  const bool leaf = message.fields.empty() || node.depth + 1 >= options_.max_depth || num_ops_ > kMaxOps;
  if (leaf && !wrapper) return MakeText(op, Code::kText, options_.column(path));
  op->code = field.type == ProtobufType::kGroup ? Code::kGroup : Code::kMessage;
  op->child = std::make_unique<Node>();
  Node& child = *op->child;
  child.message = &message;
  child.index = field.type_index;
  child.path = path;
  child.depth = node.depth + 1;
  child.ancestors = node.ancestors;
  child.ancestors.push_back(node.index);
  if (wrapper) {
    child.wrapped = options_.column(path);
    op->column = child.wrapped;
    if (child.wrapped == nullptr) return MakeText(op, Code::kText, nullptr);  // the field cap: skipped
  }
  const bool recursive =
      std::find(child.ancestors.begin(), child.ancestors.end(), child.index) != child.ancestors.end();
  if (!recursive && num_ops_ <= kMaxEagerOps) CompileNode(child);
}

void ProtobufPlan::MakeText(Op* op, Code code, Column* column) {
  op->code = code;
  op->column = column;
  op->child.reset();
  op->text = static_cast<uint32_t>(texts_.size());
  texts_.push_back({op, 0, 0});
}

ProtobufFault ProtobufPlan::Run(std::string_view payload) {
  ++row_;
  fault_ = ProtobufFault::kNone;
  at_ = nullptr;
  pieces_.clear();
  const auto* begin = reinterpret_cast<const uint8_t*>(payload.data());
  const bool read = RunNode(root_, begin, begin + payload.size(), 0, kMaxProtobufDepth) != nullptr ||
                    (payload.empty() && fault_ == ProtobufFault::kNone);
  if (read && (pieces_.empty() || WriteTexts())) [[likely]]
    return ProtobufFault::kNone;
  fault_at_ = at_ == nullptr ? 0 : static_cast<size_t>(at_ - begin);
  return fault_;
}

ProtobufPlan::Op* ProtobufPlan::Find(Node& node, uint32_t tag) {
  const uint32_t number = tag >> 3;
  Op* op = nullptr;
  if (number < node.by_number.size()) {
    const uint8_t index = node.by_number[number];
    if (index == 0) return nullptr;
    op = &node.ops[index - 1u];
  } else {
    const uint32_t index = node.message->FindField(number);
    if (index == ProtobufMessage::kNoField) return nullptr;
    op = &node.ops[index];
  }
  return op->tag == tag || op->field->Takes(static_cast<WireType>(tag & 7)) ? op : nullptr;
}

// Fields until `end`, or until `end_tag` for a group; gives the place behind.
const uint8_t* ProtobufPlan::RunNode(Node& node, const uint8_t* at, const uint8_t* end, uint32_t end_tag, int depth) {
  if (!node.compiled) [[unlikely]]
    CompileNode(node);
  Op* const ops = node.ops.data();
  const Op* const ops_end = ops + node.ops.size();
  Op* expected = ops;
  uint64_t seen = 0;
  const bool predict = options_.predict;
  while (at < end) {
    const uint8_t* const tag_at = at;
    uint32_t tag = 0;
    at = ReadTag(at, end, &tag);
    if (at == nullptr) [[unlikely]]
      return Fail(ProtobufFault::kBadTag, tag_at);
    Op* op = expected;
    if (op == ops_end || op->tag != tag || !predict) {
      if (tag == end_tag) {
        WriteDefaults(node, seen);
        return at;
      }
      op = Find(node, tag);
      if (op == nullptr) {
        ++unknown_fields_;
        at = SkipValue(tag, at, end, depth, nullptr, &fault_, &at_);
        if (at == nullptr) [[unlikely]]
          return nullptr;
        continue;
      }
    }
    if (op->oneof >= 0) ReplaceArms(node, *op);
    at = RunOp(*op, tag, at, end, depth);
    if (at == nullptr) [[unlikely]]
      return fault_ == ProtobufFault::kNone ? Fail(ProtobufFault::kMalformed, tag_at) : nullptr;
    const auto index = static_cast<size_t>(op - ops);
    if (index < 64) seen |= uint64_t{1} << index;
    expected = op->again ? op : op + 1;
  }
  if (end_tag != 0) [[unlikely]]
    return Fail(ProtobufFault::kBadGroup, at);
  WriteDefaults(node, seen);
  return at;
}

const uint8_t* ProtobufPlan::RunOp(Op& op, uint32_t tag, const uint8_t* at, const uint8_t* end, int depth) {
  uint64_t bits = 0;
  uint32_t half = 0;
  Column* const column = op.column;
  switch (op.code) {
    case Code::kInt32:
    case Code::kInt64:
    case Code::kUint32:
    case Code::kUint64:
    case Code::kSint32:
    case Code::kSint64:
    case Code::kBool:
    case Code::kEnum: at = ReadVarint(at, end, &bits); break;
    case Code::kFixed32:
    case Code::kSfixed32:
    case Code::kFloat: at = ReadFixed32(at, end, &half); break;
    case Code::kFixed64:
    case Code::kSfixed64:
    case Code::kDouble: at = ReadFixed64(at, end, &bits); break;
    case Code::kString:
    case Code::kLooseString:
    case Code::kBytes: return RunString(op, at, end);
    case Code::kTimestamp: return RunTimestamp(op, at, end);
    case Code::kText:
    case Code::kPlain: return KeepPiece(op, tag, at, end, depth);
    case Code::kMessage: {
      std::string_view bytes;
      at = ReadBytes(at, end, &bytes);
      if (at == nullptr) return nullptr;
      if (depth <= 0) return Fail(ProtobufFault::kTooDeep, at);
      const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
      return RunNode(*op.child, begin, begin + bytes.size(), 0, depth - 1);
    }
    case Code::kGroup:
      if (depth <= 0) return Fail(ProtobufFault::kTooDeep, at);
      return RunNode(*op.child, at, end, (tag & ~7u) | static_cast<uint32_t>(WireType::kEndGroup), depth - 1);
  }
  if (at == nullptr || column == nullptr) [[unlikely]]
    return at;
  switch (op.code) {
    case Code::kInt32: column->AppendInt64(static_cast<int32_t>(static_cast<uint32_t>(bits))); break;
    case Code::kInt64: column->AppendInt64(static_cast<int64_t>(bits)); break;
    case Code::kUint32: column->AppendInt64(static_cast<int64_t>(static_cast<uint32_t>(bits))); break;
    case Code::kUint64: column->AppendUint64(bits); break;
    case Code::kSint32: column->AppendInt64(ZigZag32(static_cast<uint32_t>(bits))); break;
    case Code::kSint64: column->AppendInt64(ZigZag64(bits)); break;
    case Code::kBool: column->AppendBool(bits != 0); break;
    case Code::kEnum: WriteEnum(op, static_cast<int32_t>(static_cast<uint32_t>(bits))); break;
    case Code::kFixed32: column->AppendInt64(static_cast<int64_t>(half)); break;
    case Code::kSfixed32: column->AppendInt64(static_cast<int32_t>(half)); break;
    case Code::kFloat: column->AppendFloat64(FloatOf(half)); break;
    case Code::kFixed64: column->AppendUint64(bits); break;
    case Code::kSfixed64: column->AppendInt64(static_cast<int64_t>(bits)); break;
    case Code::kDouble: column->AppendFloat64(DoubleOf(bits)); break;
    default: break;
  }
  return at;
}

const uint8_t* ProtobufPlan::RunString(Op& op, const uint8_t* at, const uint8_t* end) {
  std::string_view bytes;
  at = ReadBytes(at, end, &bytes);
  if (at == nullptr || op.column == nullptr) [[unlikely]]
    return at;
  if (op.code == Code::kBytes) {
    op.column->AppendBytes(bytes);
  } else if (IsAscii(bytes) || IsValidUtf8(bytes)) [[likely]] {
    op.column->AppendString(bytes);
  } else if (op.code == Code::kString) {
    return Fail(ProtobufFault::kInvalidUtf8, at - bytes.size() + ValidUtf8Prefix(bytes));
  } else {
    size_t replacements = 0;
    char* out = op.column->BeginString(MaxReplacedUtf8Size(bytes.size()));
    op.column->EndString(static_cast<size_t>(ReplaceInvalidUtf8(bytes, out, &replacements) - out));
    ++replaced_utf8_;
  }
  return at;
}

const uint8_t* ProtobufPlan::RunTimestamp(Op& op, const uint8_t* at, const uint8_t* end) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kMaxSeconds = INT64_MAX / kSecond - 1;  // within: fits into int64 nanoseconds
  std::string_view bytes;
  at = ReadBytes(at, end, &bytes);
  if (at == nullptr || op.column == nullptr) return at;
  int64_t seconds = 0;
  int32_t nanos = 0;
  if (op.column->HasValue() && op.column->type() == DataType::kTime) {
    // A second part of the same message: its fields are merged into the first.
    const int64_t before = op.column->RowTime();
    seconds = FloorDiv(before, kSecond);
    nanos = static_cast<int32_t>(before - seconds * kSecond);
  }
  ProtobufPiece piece;
  piece.end = at;
  piece.begin = at - bytes.size();
  if (!ReadSecondsAndNanos({&piece, 1}, &seconds, &nanos)) return Fail(ProtobufFault::kMalformed, piece.begin);
  if (!IsValidTimestamp(seconds, nanos)) return Fail(ProtobufFault::kBadTimestamp, piece.begin);
  if (seconds >= -kMaxSeconds && seconds <= kMaxSeconds) {
    op.column->AppendTime(seconds * kSecond + nanos);
  } else {
    // Year 1 or 9999 stands for "never" in many a system: such a column becomes text.
    char text[32];
    op.column->AppendString({text, static_cast<size_t>(WriteTimestamp(seconds, nanos, text) - text)});
  }
  return at;
}

const uint8_t* ProtobufPlan::KeepPiece(Op& op, uint32_t tag, const uint8_t* at, const uint8_t* end, int depth) {
  ProtobufPiece piece;
  piece.wire = static_cast<WireType>(tag & 7);
  piece.owner = op.text;
  piece.depth = static_cast<uint8_t>(depth);
  piece.begin = at;
  if (piece.wire == WireType::kLength) {
    std::string_view bytes;
    at = ReadBytes(at, end, &bytes);
    if (at == nullptr) return nullptr;
    piece.begin = reinterpret_cast<const uint8_t*>(bytes.data());
    piece.end = at;
  } else {
    at = SkipValue(tag, at, end, depth, &piece.end, &fault_, &at_);
    if (at == nullptr) return nullptr;
  }
  if (op.column != nullptr) pieces_.push_back(piece);
  return at;
}

void ProtobufPlan::WriteEnum(Op& op, int32_t number) {
  if (const std::string* name = schema_->enumeration(op.field->type_index).Name(number)) [[likely]] {
    op.column->AppendString(*name);
    return;
  }
  char text[kMaxIntegerSize];
  op.column->AppendString({text, static_cast<size_t>(WriteInt64(number, text) - text)});
}

// Fields without presence that did not come: a message may come in parts, so what an earlier part set stays.
void ProtobufPlan::WriteDefaults(Node& node, uint64_t seen) {
  for (uint64_t missing = node.defaults & ~seen; missing != 0; missing &= missing - 1) {
    WriteDefault(node.ops[static_cast<size_t>(std::countr_zero(missing))]);
  }
  for (const uint32_t index : node.defaults_beyond) WriteDefault(node.ops[index]);
}

void ProtobufPlan::WriteDefault(Op& op) {
  Column& column = *op.column;
  if (column.HasValue()) return;
  switch (op.code) {
    case Code::kUint64:
    case Code::kFixed64: column.AppendUint64(0); break;
    case Code::kBool: column.AppendBool(false); break;
    case Code::kEnum: WriteEnum(op, 0); break;
    case Code::kFloat:
    case Code::kDouble: column.AppendFloat64(0); break;
    case Code::kString:
    case Code::kLooseString: column.AppendString(""); break;
    case Code::kBytes: column.AppendBytes(""); break;
    case Code::kText: column.AppendString(op.field->map ? "{}" : "[]"); break;  // overwritten by pieces, if any
    case Code::kTimestamp:
    case Code::kMessage:
    case Code::kGroup:
    case Code::kPlain: break;  // these have presence
    default: column.AppendInt64(0); break;
  }
}

// `op` is an arm of a oneof: the other arms are unset.
void ProtobufPlan::ReplaceArms(Node& node, const Op& op) {
  for (Op* other : node.oneofs[static_cast<size_t>(op.oneof)]) {
    if (other != &op) Clear(*other);
  }
}

void ProtobufPlan::Clear(Op& op) {
  if (op.child != nullptr) {
    for (Op& inner : op.child->ops) Clear(inner);
  } else if (op.column != nullptr) {
    if (op.column->HasValue()) op.column->Clear();
    if (op.code == Code::kText || op.code == Code::kPlain) {
      texts_[op.text].row = row_;
      texts_[op.text].valid_from = static_cast<uint32_t>(pieces_.size());
    }
  }
}

// Writes what KeepPiece() kept.
bool ProtobufPlan::WriteTexts() {
  size_t kept = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Text& text = texts_[pieces_[i].owner];
    if (text.row != row_ || i >= text.valid_from) pieces_[kept++] = pieces_[i];
  }
  pieces_.resize(kept);
  const auto by_column = [](const ProtobufPiece& a, const ProtobufPiece& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.begin < b.begin;
  };
  if (!std::is_sorted(pieces_.begin(), pieces_.end(), by_column)) {
    std::sort(pieces_.begin(), pieces_.end(), by_column);
  }
  for (size_t begin = 0; begin < pieces_.size();) {
    size_t end = begin + 1;
    while (end < pieces_.size() && pieces_[end].owner == pieces_[begin].owner) ++end;
    Op& op = *texts_[pieces_[begin].owner].op;
    const std::span<const ProtobufPiece> pieces(pieces_.data() + begin, end - begin);
    text_.Clear();
    const bool written =
        op.code == Code::kPlain ? text_.WritePlain(*op.field, pieces) : text_.WriteField(*op.field, pieces);
    if (!written) {
      fault_ = text_.fault();
      at_ = text_.fault_at();
      return false;
    }
    op.column->AppendString(text_.text());
    begin = end;
  }
  return true;
}

void ProtobufPlan::ClearRow() {
  for (Op& op : root_.ops) Clear(op);
}

}  // namespace kafscope
