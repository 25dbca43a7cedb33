#include "frame/frame_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "frame/widen.h"

namespace kafscope {

namespace {

// Rows are made ready (zeroed) in steps, so that a batch of 32 does not pay for the capacity of a large one.
constexpr uint32_t kRowStep = 32;
constexpr size_t kMaxCutNames = 4096;
constexpr size_t kMaxOpenBytes = size_t{1} << 30;  // offsets of text are 32 bits

bool IsText(DataType type) { return type == DataType::kString || type == DataType::kBytes; }

size_t BitmapBytes(uint32_t rows) { return (static_cast<size_t>(rows) + 7) / 8; }

// Places by role; with `offset_last`, partition and offset come between values and error.
int RoleRank(FieldRole role, bool offset_last) {
  const bool moves = offset_last && (role == FieldRole::kPartition || role == FieldRole::kOffset);
  const int rank = static_cast<int>(FieldRole::kError) + 1;
  return moves ? static_cast<int>(role) + rank : static_cast<int>(role) + (role == FieldRole::kError ? 2 * rank : 0);
}

uint32_t CountValid(const uint8_t* bits, uint32_t rows) {
  uint32_t count = 0;
  uint32_t byte = 0;
  for (; byte + 8 <= rows / 8; byte += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bits + byte, sizeof(word));
    count += static_cast<uint32_t>(std::popcount(word));
  }
  for (; byte < rows / 8; ++byte) count += static_cast<uint32_t>(std::popcount(bits[byte]));
  if (rows % 8 != 0) {
    const auto mask = static_cast<uint8_t>((1u << (rows % 8)) - 1);
    count += static_cast<uint32_t>(std::popcount(static_cast<uint8_t>(bits[byte] & mask)));
  }
  return count;
}

ColumnData Copy(const ColumnData& from, uint32_t capacity_rows) {
  ColumnData to;
  to.type = from.type;
  const auto copy = [](const Buffer& source, size_t bytes, Buffer& target) {
    bytes = std::min(bytes, source.capacity());
    target.Reserve(bytes, 0);
    if (bytes > 0) std::memcpy(target.data(), source.data(), bytes);
  };
  copy(from.validity, BitmapBytes(capacity_rows), to.validity);
  copy(from.values, from.values.capacity(), to.values);
  copy(from.data, from.data_size, to.data);
  to.data_size = from.data_size;
  return to;
}

}  // namespace

// A column as it was before the open row widened it.
struct FrameBuilder::Undo {
  uint32_t column;
  ColumnData data;
  uint32_t filled;
  bool had_negative;
  bool had_wide;
};

FrameBuilder::FrameBuilder(Options options, std::shared_ptr<FramePool> pool)
    : max_rows_(options.max_rows == 0 ? kHardMaxRows : std::min(options.max_rows, kHardMaxRows)),
      max_bytes_(options.max_bytes == 0 ? kMaxOpenBytes : std::min(options.max_bytes, kMaxOpenBytes)),
      options_(options),
      pool_(std::move(pool)) {}

FrameBuilder::~FrameBuilder() = default;

Column* FrameBuilder::FindColumn(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : columns_[found->second].get();
}

Column* FrameBuilder::FindOrAddColumn(std::string_view name, FieldRole role) {
  if (Column* column = FindColumn(name); column != nullptr) return column;
  if (role == FieldRole::kValue) {
    if (value_columns_ >= options_.max_fields) {
      const bool known = cut_names_.contains(std::string(name));
      if (!known) ++fields_cut_;
      if (!known && cut_names_.size() < kMaxCutNames) cut_names_.emplace(name, true);
      return nullptr;
    }
    ++value_columns_;
  }
  const auto index = static_cast<uint32_t>(columns_.size());
  columns_.push_back(std::make_unique<Column>(this, std::string(name), role, index));
  by_name_.emplace(name, index);
  PrepareColumn(*columns_.back(), 0);
  schema_stale_ = true;
  return columns_.back().get();
}

void FrameBuilder::PrepareColumn(Column& column, uint32_t from_row) const {
  ColumnData& data = column.data_;
  const uint32_t to_row = capacity_rows_;
  const auto extend = [](Buffer& buffer, size_t from, size_t to, size_t slack) {
    buffer.Reserve(to + slack, from);
    if (to > from) std::memset(buffer.data() + from, 0, to - from);
  };
  // from_row is a multiple of kRowStep, so whole bytes of the bitmaps are new. At least one byte is there, so that
  // HasValue() may be asked of a column added before the first row.
  extend(data.validity, from_row / 8, std::max<size_t>(BitmapBytes(to_row), 1), 0);
  if (data.type == DataType::kBool) {
    extend(data.values, from_row / 8, BitmapBytes(to_row), 0);
  } else if (IsText(data.type)) {
    data.values.Reserve((static_cast<size_t>(to_row) + 1) * sizeof(uint32_t),
                        static_cast<size_t>(column.filled_) * sizeof(uint32_t));
  } else {
    const size_t width = ValueWidth(data.type);
    extend(data.values, from_row * width, to_row * width, 0);
  }
}

void FrameBuilder::GrowRows() {
  const uint32_t from = capacity_rows_;
  capacity_rows_ = from + kRowStep;
  for (const auto& column : columns_) PrepareColumn(*column, from);
}

void FrameBuilder::BeginRow() {
  if (row_ >= capacity_rows_) GrowRows();
  in_row_ = true;
  columns_at_row_ = static_cast<uint32_t>(columns_.size());
}

void FrameBuilder::BeginRun(uint32_t rows) {
  while (row_ + rows > capacity_rows_) GrowRows();
  in_row_ = true;
  columns_at_row_ = static_cast<uint32_t>(columns_.size());
}

void FrameBuilder::EndRun(uint32_t rows) {
  open_bytes_ += sizeof(uint64_t) * rows;
  in_row_ = false;
  undo_.clear();
}

void FrameBuilder::CommitRow() {
  ++row_;
  open_bytes_ += sizeof(uint64_t);
  in_row_ = false;
  if (!undo_.empty()) [[unlikely]]
    undo_.clear();
}

void FrameBuilder::AbortRow() {
  if (columns_.size() > columns_at_row_) {
    while (columns_.size() > columns_at_row_) {
      if (columns_.back()->role() == FieldRole::kValue) --value_columns_;
      by_name_.erase(columns_.back()->name());
      columns_.pop_back();
    }
    ++generation_;
    schema_stale_ = true;
  }
  for (Undo& undo : undo_) {
    Column& column = *columns_[undo.column];
    column.data_ = std::move(undo.data);
    column.filled_ = undo.filled;
    column.had_negative_ = undo.had_negative;
    column.had_wide_ = undo.had_wide;
    schema_stale_ = true;
  }
  undo_.clear();
  for (const auto& column : columns_) column->Clear();
  in_row_ = false;
}

void FrameBuilder::SaveForUndo(Column& column) {
  if (!in_row_ || column.index_ >= columns_at_row_) return;
  const auto same = [&column](const Undo& undo) { return undo.column == column.index_; };
  if (std::any_of(undo_.begin(), undo_.end(), same)) return;
  undo_.push_back(
      {column.index_, Copy(column.data_, capacity_rows_), column.filled_, column.had_negative_, column.had_wide_});
}

void FrameBuilder::TypeChanged() { schema_stale_ = true; }

void FrameBuilder::UpdateSchema() {
  // Before the first frame the order is free; afterwards columns only join at the right.
  if (!sealed_once_) display_order_.clear();
  std::erase_if(display_order_, [this](uint32_t index) { return index >= columns_.size(); });
  std::vector<bool> placed(columns_.size(), false);
  for (const uint32_t index : display_order_) placed[index] = true;
  const size_t first_new = display_order_.size();
  for (uint32_t index = 0; index < columns_.size(); ++index) {
    if (!placed[index]) display_order_.push_back(index);
  }
  if (!sealed_once_) {
    const auto stands_before = [this](uint32_t a, uint32_t b) {
      const Column& left = *columns_[a];
      const Column& right = *columns_[b];
      if (left.role() != right.role()) {
        return RoleRank(left.role(), !options_.sort_value_columns) <
               RoleRank(right.role(), !options_.sort_value_columns);
      }
      const bool by_name =
          left.role() == FieldRole::kKey || (left.role() == FieldRole::kValue && options_.sort_value_columns);
      return by_name ? left.name() < right.name() : a < b;
    };
    std::sort(display_order_.begin() + static_cast<ptrdiff_t>(first_new), display_order_.end(), stands_before);
  }
  std::vector<Field> fields;
  fields.reserve(display_order_.size());
  for (const uint32_t index : display_order_) {
    const Column& column = *columns_[index];
    fields.push_back({column.name(), column.type(), column.role(), column.had_wide_});
  }
  schema_stale_ = false;
  if (schema_ != nullptr && schema_->fields() == fields) return;
  schema_ = std::make_shared<const Schema>(std::move(fields), ++version_);
}

std::shared_ptr<const Schema> FrameBuilder::CurrentSchema() {
  if (schema_stale_) UpdateSchema();
  return schema_;
}

void FrameBuilder::SealColumn(Column& column, ColumnData& to) {
  ColumnData& data = column.data_;
  data.null_count = row_ - CountValid(data.validity.data(), row_);
  const bool knew_wide = column.had_wide_;
  if (data.type == DataType::kInt64) {
    const auto* values = reinterpret_cast<const int64_t*>(data.values.data());
    bool wide = false;
    bool negative = false;
    for (uint32_t row = 0; row < row_; ++row) {
      wide |= IsWide(values[row]);
      negative |= values[row] < 0;
    }
    column.had_wide_ |= wide;
    column.had_negative_ |= negative;
  } else if (data.type == DataType::kUint64) {
    const auto* values = reinterpret_cast<const uint64_t*>(data.values.data());
    bool wide = false;
    for (uint32_t row = 0; row < row_; ++row) wide |= IsWide(values[row]);
    column.had_wide_ |= wide;
  } else if (IsText(data.type)) {
    // A row that was cleared may have taken its offset back; all up to row_ are filled here.
    data.values.Reserve((static_cast<size_t>(row_) + 1) * sizeof(uint32_t),
                        static_cast<size_t>(column.filled_) * sizeof(uint32_t));
    column.FillOffsets(row_);
  }
  if (column.had_wide_ != knew_wide) schema_stale_ = true;
  const DataType type = data.type;
  std::swap(data, to);
  data.type = type;
  data.data_size = 0;
  column.filled_ = 0;
}

FramePtr FrameBuilder::Finish() {
  if (schema_stale_) UpdateSchema();
  Frame* frame = pool_->Take();
  FramePtr sealed(frame);
  if (frame->columns_.size() < display_order_.size()) frame->columns_.resize(display_order_.size());
  size_t bytes = 0;
  for (size_t i = 0; i < display_order_.size(); ++i) {
    ColumnData& to = frame->columns_[i];
    SealColumn(*columns_[display_order_[i]], to);
    const size_t width = ValueWidth(to.type);
    bytes += BitmapBytes(row_) + to.data_size + (to.type == DataType::kBool ? BitmapBytes(row_) : width * row_);
  }
  sealed_once_ = true;
  if (schema_stale_) UpdateSchema();  // a column was seen to hold wide integers
  frame->schema_ = schema_;
  frame->num_rows_ = row_;
  frame->byte_size_ = bytes;
  frame->stats_ = std::exchange(stats_, {});
  frame->pool_ = pool_;
  row_ = 0;
  open_bytes_ = 0;
  // The columns took over the storage of an older frame: it is made ready from its first row on.
  capacity_rows_ = 0;
  for (const auto& column : columns_) PrepareColumn(*column, 0);
  return sealed;
}

}  // namespace kafscope
