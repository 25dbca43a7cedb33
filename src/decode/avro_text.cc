#include "decode/avro_text.h"

#include <cmath>

#include "base/base64.h"
#include "base/json_escape.h"
#include "base/number_format.h"
#include "base/utf8.h"
#include "decode/avro_values.h"

namespace kafscope {
namespace {

void WriteInteger(int64_t value, AvroTextState& state) { state.End(WriteInt64(value, state.Room(kMaxIntegerSize))); }

void WriteNumber(double value, AvroTextState& state) {
  if (std::isfinite(value)) return state.End(WriteDouble(value, state.Room(kMaxDoubleSize)));
  state.Append(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

void WriteBase64Text(std::string_view bytes, AvroTextState& state) {
  const size_t size = Base64Size(bytes.size());
  char* to = state.Room(size + 2);
  *to++ = '"';
  WriteBase64(bytes, to);
  to += size;
  *to++ = '"';
  state.End(to);
}

// state.scratch between quotes; it needs no escapes.
void WriteQuotedScratch(AvroTextState& state) {
  state.Append('"');
  state.Append(state.scratch);
  state.Append('"');
}

AvroFault CountEmpty(AvroTextState& state) {
  return ++state.empty_items > AvroTextState::kMaxEmptyItems ? AvroFault::kTooManyEmpty : AvroFault::kNone;
}

}  // namespace

AvroText::AvroText(std::shared_ptr<const AvroSchema> schema) : schema_(std::move(schema)), keys_(schema_->num_nodes()) {
  for (uint32_t i = 0; i < schema_->num_nodes(); ++i) {
    for (const AvroNode::Field& field : schema_->node(i).fields) {
      keys_[i].push_back((keys_[i].empty() ? "{\"" : ",\"") + field.name + "\":");  // names need no escapes
    }
  }
}

AvroFault AvroText::WriteString(AvroCursor& cursor, AvroTextState& state) const {
  std::string_view value;
  KAFSCOPE_AVRO_TRY(ReadBytes(cursor, &value));
  if (!IsValidUtf8(value)) [[unlikely]] {
    state.scratch.clear();
    AppendReplacedUtf8(value, &state.scratch);
    ++state.replaced_utf8;
    value = state.scratch;
  }
  state.End(WriteJsonString(value, state.Room(MaxJsonStringSize(value.size()))));
  return AvroFault::kNone;
}

AvroFault AvroText::WriteItems(const AvroNode& node, AvroCursor& cursor, AvroTextState& state, int depth) const {
  const bool map = node.type == AvroType::kMap;
  const uint32_t item = node.branches[0];
  const bool may_be_empty = !map && schema_->node(item).can_be_empty;
  state.Append(map ? '{' : '[');
  bool any = false;
  for (;;) {
    uint64_t count = 0;
    KAFSCOPE_AVRO_TRY(ReadBlockCount(cursor, may_be_empty, &count));
    if (count == 0) break;
    any = true;
    for (uint64_t i = 0; i < count; ++i) {
      if (map) {
        KAFSCOPE_AVRO_TRY(WriteString(cursor, state));
        state.Append(':');
      }
      if (may_be_empty) KAFSCOPE_AVRO_TRY(CountEmpty(state));
      KAFSCOPE_AVRO_TRY(WriteValue(item, cursor, state, depth - 1));
      state.Append(',');
      if (state.text().size() > AvroTextState::kMaxText) return AvroFault::kTooLarge;
    }
  }
  if (any) state.DropLast();
  state.Append(map ? '}' : ']');
  return AvroFault::kNone;
}

AvroFault AvroText::WriteLogical(const AvroNode& node, AvroCursor& cursor, AvroTextState& state) const {
  state.scratch.clear();
  int64_t number = 0;
  int32_t narrow = 0;
  std::string_view bytes;
  switch (node.logical) {
    case AvroLogicalType::kDate:
      KAFSCOPE_AVRO_TRY(ReadInt(cursor, &narrow));
      AppendDate(narrow, &state.scratch);
      break;
    case AvroLogicalType::kTimeMillis:
      KAFSCOPE_AVRO_TRY(ReadInt(cursor, &narrow));
      AppendTimeOfDay(narrow, 1000, &state.scratch);
      break;
    case AvroLogicalType::kTimeMicros:
      KAFSCOPE_AVRO_TRY(ReadLong(cursor, &number));
      AppendTimeOfDay(number, 1'000'000, &state.scratch);
      break;
    case AvroLogicalType::kTimestampMillis:
      KAFSCOPE_AVRO_TRY(ReadLong(cursor, &number));
      AppendInstant(number, 1000, &state.scratch);
      break;
    case AvroLogicalType::kTimestampMicros:
      KAFSCOPE_AVRO_TRY(ReadLong(cursor, &number));
      AppendInstant(number, 1'000'000, &state.scratch);
      break;
    case AvroLogicalType::kTimestampNanos:
      KAFSCOPE_AVRO_TRY(ReadLong(cursor, &number));
      AppendInstant(number, 1'000'000'000, &state.scratch);
      break;
    case AvroLogicalType::kUuid:
      if (node.type == AvroType::kString) return WriteString(cursor, state);
      KAFSCOPE_AVRO_TRY(ReadRaw(cursor, node.size, &bytes));
      AppendUuid(bytes, &state.scratch);
      break;
    case AvroLogicalType::kDuration:
      KAFSCOPE_AVRO_TRY(ReadRaw(cursor, node.size, &bytes));
      AppendDuration(bytes, &state.scratch);
      break;
    case AvroLogicalType::kDecimal:
      KAFSCOPE_AVRO_TRY(node.type == AvroType::kFixed ? ReadRaw(cursor, node.size, &bytes) : ReadBytes(cursor, &bytes));
      bytes = StripSignBytes(bytes);
      if (bytes.size() > kMaxDecimalBytes) return AvroFault::kTooLarge;
      AppendDecimal(bytes, node.scale, &state.scratch);
      if (node.precision <= 15) {
        state.Append(state.scratch);
        return AvroFault::kNone;
      }
      break;
    case AvroLogicalType::kNone: break;
  }
  WriteQuotedScratch(state);
  return AvroFault::kNone;
}

AvroFault AvroText::WriteValue(uint32_t index, AvroCursor& cursor, AvroTextState& state, int depth) const {
  if (depth == 0) return AvroFault::kTooDeep;
  const AvroNode& node = schema_->node(index);
  if (node.logical != AvroLogicalType::kNone) return WriteLogical(node, cursor, state);
  std::string_view bytes;
  int64_t number = 0;
  size_t choice = 0;
  switch (node.type) {
    case AvroType::kNull: state.Append("null"); break;
    case AvroType::kBoolean: {
      bool value = false;
      KAFSCOPE_AVRO_TRY(ReadBoolean(cursor, &value));
      state.Append(value ? "true" : "false");
      break;
    }
    case AvroType::kInt: {
      int32_t value = 0;
      KAFSCOPE_AVRO_TRY(ReadInt(cursor, &value));
      WriteInteger(value, state);
      break;
    }
    case AvroType::kLong:
      KAFSCOPE_AVRO_TRY(ReadLong(cursor, &number));
      WriteInteger(number, state);
      break;
    case AvroType::kFloat: {
      float value = 0;
      KAFSCOPE_AVRO_TRY(ReadFloat(cursor, &value));
      WriteNumber(static_cast<double>(value), state);
      break;
    }
    case AvroType::kDouble: {
      double value = 0;
      KAFSCOPE_AVRO_TRY(ReadDouble(cursor, &value));
      WriteNumber(value, state);
      break;
    }
    case AvroType::kBytes:
      KAFSCOPE_AVRO_TRY(ReadBytes(cursor, &bytes));
      WriteBase64Text(bytes, state);
      break;
    case AvroType::kFixed:
      KAFSCOPE_AVRO_TRY(ReadRaw(cursor, node.size, &bytes));
      WriteBase64Text(bytes, state);
      break;
    case AvroType::kString: return WriteString(cursor, state);
    case AvroType::kEnum:
      KAFSCOPE_AVRO_TRY(ReadIndex(cursor, node.symbols.size(), AvroFault::kEnumIndex, &choice));
      state.Append('"');
      state.Append(node.symbols[choice]);
      state.Append('"');
      break;
    case AvroType::kUnion:
      KAFSCOPE_AVRO_TRY(ReadIndex(cursor, node.branches.size(), AvroFault::kUnionBranch, &choice));
      return WriteValue(node.branches[choice], cursor, state, depth - 1);
    case AvroType::kArray:
    case AvroType::kMap: return WriteItems(node, cursor, state, depth);
    case AvroType::kRecord:
      if (node.can_be_empty) KAFSCOPE_AVRO_TRY(CountEmpty(state));
      for (size_t i = 0; i < node.fields.size(); ++i) {
        state.Append(keys_[index][i]);
        KAFSCOPE_AVRO_TRY(WriteValue(node.fields[i].node, cursor, state, depth - 1));
      }
      state.Append(node.fields.empty() ? "{}" : "}");
      break;
  }
  return AvroFault::kNone;
}

}  // namespace kafscope
