#include "decode/avro_plan.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "decode/avro_values.h"

namespace kafscope {
namespace {

constexpr uint32_t kMaxFloatPrecision = 15;  // decimals of more digits are text
constexpr int64_t kMaxFloatDecimal = 1'000'000'000'000'000;
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kSecondsPerDay = 86400;

constexpr std::array<double, 16> kPowersOf10 = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Both operands of the division are exact doubles, so that its result is the nearest double of the decimal.
void AppendDecimalTo(Column* column, std::string_view bytes, uint32_t scale, bool exact, AvroTextState& state) {
  int64_t value = 0;
  if (!exact && DecimalToInt64(bytes, &value) && value < kMaxFloatDecimal && value > -kMaxFloatDecimal) {
    return column->AppendFloat64(static_cast<double>(value) / kPowersOf10[scale]);
  }
  state.scratch.clear();
  AppendDecimal(bytes, scale, &state.scratch);
  column->AppendString(state.scratch);
}

void AppendText(Column* column, std::string_view value, AvroTextState& state) {
  if (IsValidUtf8(value)) [[likely]]
    return column->AppendString(value);
  state.scratch.clear();
  AppendReplacedUtf8(value, &state.scratch);
  ++state.replaced_utf8;
  column->AppendString(state.scratch);
}

std::string_view ShortName(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

class AvroPlanCompiler {
 public:
  using Code = AvroPlan::Code;
  using Op = AvroPlan::Op;

  explicit AvroPlanCompiler(AvroPlan* plan) : plan_(*plan), schema_(*plan->schema_), options_(plan->options_) {}

  Status Compile() {
    if (schema_.root().type == AvroType::kArray) {
      plan_.root_array_ = true;
      Emit({.code = Code::kItems});
    } else {
      Add(schema_.root_index(), "", 0);
    }
    Emit({});
    if (too_large_)
      return Status::ResourceExhausted("the Avro schema has more than 100000 fields once it is flattened");
    return Status::Ok();
  }

  // Operations of one more item of a root array; false when that would be too many.
  bool AddItem() {
    const size_t ops = plan_.ops_.size();
    plan_.items_.push_back(Next());
    Add(schema_.root().branches[0], "item_" + std::to_string(plan_.items_.size() - 1), 1);
    Emit({});
    if (too_large_) {
      plan_.items_.pop_back();
      plan_.ops_.resize(ops);
    }
    return !too_large_;
  }

 private:
  uint32_t Emit(const Op& op) {
    too_large_ |= plan_.ops_.size() >= AvroPlan::kMaxOps;
    if (!too_large_) plan_.ops_.push_back(op);
    return static_cast<uint32_t>(plan_.ops_.size() - 1);
  }
  uint32_t Next() const { return static_cast<uint32_t>(plan_.ops_.size()); }

  // `path`: "" at the root; `depth`: names in it.
  void Add(uint32_t index, const std::string& path, uint32_t depth) {
    too_large_ |= ++visited_ > AvroPlan::kMaxOps;  // types that need no operation count too
    if (too_large_) return;
    const AvroNode& node = schema_.node(index);
    if (node.type == AvroType::kUnion) return AddUnion(index, path, depth);
    if (node.type == AvroType::kRecord && !node.fields.empty() && depth < options_.max_depth) {
      for (const AvroNode::Field& field : node.fields) {
        Add(field.node, path.empty() ? field.name : path + "." + field.name, depth + 1);
      }
      return;
    }
    if (node.type == AvroType::kRecord && node.fields.empty() && path.empty()) return;
    Op op = LeafOp(node);
    op.node = index;
    op.column = options_.column(path);
    if (node.type == AvroType::kNull) return;  // the column holds nothing but nulls
    if (op.column == nullptr) op.code = Code::kSkip;
    Emit(op);
  }

  void AddUnion(uint32_t index, const std::string& path, uint32_t depth) {
    const AvroNode& node = schema_.node(index);
    const auto is_null = [&](uint32_t arm) { return schema_.node(arm).type == AvroType::kNull; };
    const auto nulls = std::count_if(node.branches.begin(), node.branches.end(), is_null);
    if (node.branches.size() == 2 && nulls == 1) {
      const uint8_t null_branch = is_null(node.branches[0]) ? 0 : 1;
      const uint32_t at = Emit({.code = Code::kNullable, .branch = null_branch});
      Add(node.branches[1 - null_branch], path, depth);
      if (!too_large_) plan_.ops_[at].target = Next();
      return;
    }
    const uint32_t at = Emit({.code = Code::kUnion, .count = static_cast<uint32_t>(node.branches.size())});
    const auto first = static_cast<uint32_t>(plan_.jumps_.size());
    if (too_large_) return;
    plan_.ops_[at].target = first;
    plan_.jumps_.resize(first + node.branches.size());
    std::vector<uint32_t> ends;
    const bool several = node.branches.size() - static_cast<size_t>(nulls) > 1;
    for (size_t i = 0; i < node.branches.size() && !too_large_; ++i) {
      plan_.jumps_[first + i] = Next();
      const std::string base = path.empty() ? options_.root_arm_prefix : path + ".";
      const bool own_column = several && !is_null(node.branches[i]);
      if (!several || own_column) Add(node.branches[i], own_column ? base + ArmName(node, i) : path, depth);
      ends.push_back(Emit({.code = Code::kJump}));
    }
    if (too_large_) return;
    for (uint32_t end : ends) plan_.ops_[end].target = Next();
  }

  // "long", "Order"; the full name where two arms have the same short one.
  std::string ArmName(const AvroNode& node, size_t arm) const {
    const auto short_name = [&](uint32_t branch) {
      const AvroNode& type = schema_.node(branch);
      return type.name.empty() ? AvroTypeName(type.type) : ShortName(type.name);
    };
    const std::string_view name = short_name(node.branches[arm]);
    const bool twice = std::count_if(node.branches.begin(), node.branches.end(),
                                     [&](uint32_t branch) { return short_name(branch) == name; }) > 1;
    const AvroNode& type = schema_.node(node.branches[arm]);
    return twice && !type.name.empty() ? type.name : std::string(name);
  }

  static Op LeafOp(const AvroNode& node) {
    Op op;
    switch (node.type) {
      case AvroType::kNull: break;
      case AvroType::kBoolean: op.code = Code::kBoolean; break;
      case AvroType::kInt: op.code = Code::kInt; break;
      case AvroType::kLong: op.code = Code::kLong; break;
      case AvroType::kFloat: op.code = Code::kFloat; break;
      case AvroType::kDouble: op.code = Code::kDouble; break;
      case AvroType::kBytes: op.code = Code::kBytes; break;
      case AvroType::kString: op.code = Code::kString; break;
      case AvroType::kEnum:
        op.code = Code::kEnum;
        op.count = static_cast<uint32_t>(node.symbols.size());
        break;
      case AvroType::kFixed:
        op.code = Code::kFixed;
        op.count = node.size;
        break;
      case AvroType::kRecord:
      case AvroType::kArray:
      case AvroType::kMap:
      case AvroType::kUnion: op.code = Code::kText; break;
    }
    SetLogical(node, &op);
    return op;
  }

  static void SetLogical(const AvroNode& node, Op* op) {
    const bool fixed = node.type == AvroType::kFixed;
    switch (node.logical) {
      case AvroLogicalType::kNone: break;
      case AvroLogicalType::kDecimal:
        op->code = fixed ? Code::kDecimalFixed : Code::kDecimalBytes;
        op->target = node.size;
        op->count = node.scale;
        op->branch = node.precision > kMaxFloatPrecision ? 1 : 0;
        break;
      case AvroLogicalType::kUuid:
        if (fixed) op->code = Code::kUuid;
        break;
      case AvroLogicalType::kDate: op->code = Code::kDate; break;
      case AvroLogicalType::kTimeMillis:
        op->code = Code::kTimeOfDayInt;
        op->factor = 1000;
        break;
      case AvroLogicalType::kTimeMicros:
        op->code = Code::kTimeOfDayLong;
        op->factor = 1'000'000;
        break;
      case AvroLogicalType::kTimestampMillis:
        op->code = Code::kInstant;
        op->factor = 1'000'000;
        break;
      case AvroLogicalType::kTimestampMicros:
        op->code = Code::kInstant;
        op->factor = 1000;
        break;
      case AvroLogicalType::kTimestampNanos:
        op->code = Code::kInstant;
        op->factor = 1;
        break;
      case AvroLogicalType::kDuration: op->code = Code::kDuration; break;
    }
  }

  AvroPlan& plan_;
  const AvroSchema& schema_;
  const AvroPlan::Options& options_;
  size_t visited_ = 0;
  bool too_large_ = false;
};

Result<std::unique_ptr<AvroPlan>> AvroPlan::Compile(std::shared_ptr<const AvroSchema> schema, const Options& options) {
  std::unique_ptr<AvroPlan> plan(new AvroPlan(std::move(schema), options));
  KAFSCOPE_FAIL_IF_ERROR(AvroPlanCompiler(plan.get()).Compile());
  return plan;
}

AvroFault AvroPlan::Check(AvroCursor cursor, AvroTextState& state) const {
  state.Clear();
  state.empty_items = 0;
  const uint64_t replaced = state.replaced_utf8;
  const AvroFault fault = text_.Write(schema_->root_index(), cursor, state);
  state.replaced_utf8 = replaced;
  if (fault != AvroFault::kNone) return fault;
  return cursor.at == cursor.end ? AvroFault::kNone : AvroFault::kTrailingBytes;
}

void AvroPlan::PrepareItems(AvroCursor cursor, AvroTextState& state) {
  const uint32_t item = schema_->root().branches[0];
  const bool may_be_empty = schema_->node(item).can_be_empty;
  const uint64_t replaced = state.replaced_utf8;
  state.empty_items = 0;
  uint64_t items = 0;
  for (uint64_t count = 0; items < kMaxItems;) {
    if (ReadBlockCount(cursor, may_be_empty, &count) != AvroFault::kNone || count == 0) break;
    for (uint64_t i = 0; i < count && items < kMaxItems; ++i, ++items) {
      state.Clear();
      if (text_.Write(item, cursor, state) != AvroFault::kNone) return;  // Run() will say so
    }
  }
  state.replaced_utf8 = replaced;
  while (items_.size() < items && AvroPlanCompiler(this).AddItem()) continue;
}

AvroFault AvroPlan::RunItems(AvroCursor& cursor, AvroTextState& state) const {
  const uint32_t item = schema_->root().branches[0];
  const bool may_be_empty = schema_->node(item).can_be_empty;
  for (uint64_t index = 0, count = 0;;) {
    KAFSCOPE_AVRO_TRY(ReadBlockCount(cursor, may_be_empty, &count));
    if (count == 0) return AvroFault::kNone;
    for (uint64_t i = 0; i < count; ++i, ++index) {
      if (may_be_empty && ++state.empty_items > AvroTextState::kMaxEmptyItems) return AvroFault::kTooManyEmpty;
      if (index < items_.size()) {
        KAFSCOPE_AVRO_TRY(RunFrom(items_[index], cursor, state));
      } else {
        state.Clear();
        KAFSCOPE_AVRO_TRY(text_.Write(item, cursor, state));
      }
    }
  }
}

AvroFault AvroPlan::RunText(const Op& op, AvroCursor& cursor, AvroTextState& state) const {
  state.Clear();
  KAFSCOPE_AVRO_TRY(text_.Write(op.node, cursor, state));
  if (op.column != nullptr) op.column->AppendString(state.text());
  return AvroFault::kNone;
}

// The types that need more than a read and a store.
AvroFault AvroPlan::RunLogical(const Op& op, AvroCursor& cursor, AvroTextState& state) const {
  int64_t number = 0;
  int32_t narrow = 0;
  std::string_view bytes;
  state.scratch.clear();
  switch (op.code) {
    case Code::kDate: {
      KAFSCOPE_AVRO_TRY(ReadInt(cursor, &narrow));
      const int64_t seconds = narrow * kSecondsPerDay;
      if (!__builtin_mul_overflow(seconds, kNanosPerSecond, &number)) {
        op.column->AppendTime(number);
        return AvroFault::kNone;
      }
      AppendInstant(seconds, 1, &state.scratch);
      break;
    }
    case Code::kInstant:
      KAFSCOPE_AVRO_TRY(ReadLong(cursor, &number));
      AppendInstant(number, kNanosPerSecond / op.factor, &state.scratch);
      break;
    case Code::kTimeOfDayInt:
      KAFSCOPE_AVRO_TRY(ReadInt(cursor, &narrow));
      AppendTimeOfDay(narrow, op.factor, &state.scratch);
      break;
    case Code::kTimeOfDayLong:
      KAFSCOPE_AVRO_TRY(ReadLong(cursor, &number));
      AppendTimeOfDay(number, op.factor, &state.scratch);
      break;
    case Code::kUuid:
      KAFSCOPE_AVRO_TRY(ReadRaw(cursor, 16, &bytes));
      AppendUuid(bytes, &state.scratch);
      break;
    case Code::kDuration:
      KAFSCOPE_AVRO_TRY(ReadRaw(cursor, 12, &bytes));
      AppendDuration(bytes, &state.scratch);
      break;
    default:
      KAFSCOPE_AVRO_TRY(op.code == Code::kDecimalFixed ? ReadRaw(cursor, op.target, &bytes)
                                                       : ReadBytes(cursor, &bytes));
      bytes = StripSignBytes(bytes);
      if (bytes.size() > kMaxDecimalBytes) return AvroFault::kTooLarge;
      AppendDecimalTo(op.column, bytes, op.count, op.branch != 0, state);
      return AvroFault::kNone;
  }
  op.column->AppendString(state.scratch);
  return AvroFault::kNone;
}

// PERF: the cursor is a local copy, so that it can live in registers; what is not inline gets it by reference.
AvroFault AvroPlan::RunFrom(size_t first, AvroCursor& outer, AvroTextState& state) const {
  const Op* const ops = ops_.data();
  AvroCursor cursor = outer;
  AvroFault fault = AvroFault::kNone;
  for (const Op* op = ops + first;; ++op) {
    switch (op->code) {
      case Code::kEnd: outer = cursor; return AvroFault::kNone;
      case Code::kItems: fault = RunItems(cursor, state); break;
      case Code::kNullable: {
        size_t branch = 0;
        fault = ReadIndex(cursor, 2, AvroFault::kUnionBranch, &branch);
        if (branch == op->branch) op = ops + op->target - 1;
        break;
      }
      case Code::kUnion: {
        size_t branch = 0;
        fault = ReadIndex(cursor, op->count, AvroFault::kUnionBranch, &branch);
        if (fault == AvroFault::kNone) [[likely]]
          op = ops + jumps_[op->target + branch] - 1;
        break;
      }
      case Code::kJump: op = ops + op->target - 1; break;
      case Code::kBoolean: {
        bool value = false;
        fault = ReadBoolean(cursor, &value);
        op->column->AppendBool(value);
        break;
      }
      case Code::kInt: {
        int32_t value = 0;
        fault = ReadInt(cursor, &value);
        op->column->AppendInt64(value);
        break;
      }
      case Code::kLong: {
        int64_t value = 0;
        fault = ReadLong(cursor, &value);
        op->column->AppendInt64(value);
        break;
      }
      case Code::kFloat: {
        float value = 0;
        fault = ReadFloat(cursor, &value);
        op->column->AppendFloat64(static_cast<double>(value));
        break;
      }
      case Code::kDouble: {
        double value = 0;
        fault = ReadDouble(cursor, &value);
        op->column->AppendFloat64(value);
        break;
      }
      case Code::kString: {
        std::string_view value;
        fault = ReadBytes(cursor, &value);
        AppendText(op->column, value, state);
        break;
      }
      case Code::kBytes: {
        std::string_view value;
        fault = ReadBytes(cursor, &value);
        op->column->AppendBytes(value);
        break;
      }
      case Code::kFixed: {
        std::string_view value;
        fault = ReadRaw(cursor, op->count, &value);
        op->column->AppendBytes(value);
        break;
      }
      case Code::kEnum: {
        size_t symbol = 0;
        fault = ReadIndex(cursor, op->count, AvroFault::kEnumIndex, &symbol);
        if (fault == AvroFault::kNone) [[likely]]
          op->column->AppendString(schema_->node(op->node).symbols[symbol]);
        break;
      }
      case Code::kInstant: {
        int64_t value = 0;
        int64_t nanoseconds = 0;
        const AvroCursor start = cursor;
        fault = ReadLong(cursor, &value);
        if (!__builtin_mul_overflow(value, op->factor, &nanoseconds)) [[likely]] {
          op->column->AppendTime(nanoseconds);
          break;
        }
        cursor = start;
        fault = RunLogical(*op, cursor, state);
        break;
      }
      case Code::kDate:
      case Code::kTimeOfDayInt:
      case Code::kTimeOfDayLong:
      case Code::kUuid:
      case Code::kDuration:
      case Code::kDecimalBytes:
      case Code::kDecimalFixed: fault = RunLogical(*op, cursor, state); break;
      case Code::kText:
      case Code::kSkip: fault = RunText(*op, cursor, state); break;
    }
    if (fault != AvroFault::kNone) [[unlikely]] {
      outer = cursor;
      return fault;
    }
  }
}

}  // namespace kafscope
