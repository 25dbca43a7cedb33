// FrameBuilder collects decoded rows into typed columns and seals them into a Frame.
//
// One row at a time: BeginRow(), any number of Column::Append*(…), then CommitRow() or AbortRow(). A column that a row
// does not touch gets a null for it. AbortRow() takes back all that the row did: values, columns first seen in it,
// promotions. Finish() seals the committed rows and keeps the columns for the next batch.
//
// Cost: O(1) a row and no allocation once the builder has seen a batch of this size. FindOrAddColumn() is for building
// plans, not for use per row.
// Lifetime: a Column* stays valid until the builder is destroyed, across Finish() — but a column that was first seen in
// an aborted row is gone: plans must ask generation() after AbortRow() and rebuild what they added in that row.
// Threads: not thread-safe; a builder lives on its pipeline's consume thread. A sealed Frame is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frame/column.h"
#include "frame/frame.h"

namespace kafscope {

class FrameBuilder {
 public:
  struct Options {
    uint32_t max_rows = 0;          // rows at which Full() says so; 0: no bound but kHardMaxRows
    size_t max_bytes = 256 * 1024;  // bytes of values at which Full() says so; 0: no bound
    uint32_t max_fields = 1000;     // value columns; further ones are counted in fields_cut()
    // In the first sealed frame. False (line protocol `long`): first-seen order, partition and offset after the values.
    bool sort_value_columns = true;
  };
  static constexpr uint32_t kHardMaxRows = 65536;

  explicit FrameBuilder(Options options, std::shared_ptr<FramePool> pool = FramePool::Make());
  ~FrameBuilder();
  FrameBuilder(const FrameBuilder&) = delete;
  FrameBuilder& operator=(const FrameBuilder&) = delete;

  // The column of this name and role, or a new one. Null if `role` is kValue and max_fields is reached (counted in
  // fields_cut() once a name). Cost: a hash look-up. Names are unique over all roles: the caller resolves clashes
  // first.
  Column* FindOrAddColumn(std::string_view name, FieldRole role);
  Column* FindColumn(std::string_view name) const;

  void BeginRow();
  void CommitRow();
  // Several rows at once, for decoders that know how many: BeginRun(n); Column::Append*Run(…, n) for what they share;
  // then for each row its own values and NextRow(); at last EndRun(n). Nothing can be taken back.
  // REQUIRES: no open row; NextRow() exactly n times.
  void BeginRun(uint32_t rows);
  void NextRow() { ++row_; }
  void EndRun(uint32_t rows);
  void AbortRow();
  // Rises when AbortRow() removed columns: a plan that cached Column* must drop those added since.
  uint64_t generation() const { return generation_; }

  bool in_row() const { return in_row_; }
  uint32_t num_rows() const { return row_; }  // committed rows of the open batch
  // The batch has reached its rows or bytes.
  bool Full() const { return row_ >= max_rows_ || open_bytes_ >= max_bytes_; }
  // Payload bytes are the measure of max_bytes together with 8 bytes a row: cheap and monotonic.
  void AddBytes(size_t bytes) { open_bytes_ += bytes; }
  size_t open_bytes() const { return open_bytes_; }

  FrameStats& stats() { return stats_; }
  uint64_t fields_cut() const { return fields_cut_; }

  // Seals the committed rows; num_rows() may be 0 (a frame that carries only its schema).
  // REQUIRES: no open row.
  FramePtr Finish();
  // The schema that the next Finish() would give, types of the open batch included.
  std::shared_ptr<const Schema> CurrentSchema();

 private:
  friend class Column;
  struct Undo;

  void GrowRows();
  void PrepareColumn(Column& column, uint32_t from_row) const;
  void SaveForUndo(Column& column);
  void TypeChanged();
  void UpdateSchema();
  void SealColumn(Column& column, ColumnData& to);

  uint32_t row_ = 0;
  uint32_t capacity_rows_ = 0;
  uint32_t max_rows_;
  bool in_row_ = false;
  size_t open_bytes_ = 0;
  size_t max_bytes_;
  Options options_;
  std::vector<std::unique_ptr<Column>> columns_;  // by index, in first-seen order
  std::vector<uint32_t> display_order_;           // column index of each schema field
  std::unordered_map<std::string, uint32_t> by_name_;
  std::shared_ptr<const Schema> schema_;
  bool schema_stale_ = true;
  uint64_t version_ = 0;
  bool sealed_once_ = false;
  uint32_t value_columns_ = 0;
  uint64_t fields_cut_ = 0;
  std::unordered_map<std::string, bool> cut_names_;  // bounded; beyond it a cut name may count again
  uint64_t generation_ = 0;
  uint32_t columns_at_row_ = 0;  // columns_.size() when the open row began
  std::vector<Undo> undo_;
  FrameStats stats_;
  std::shared_ptr<FramePool> pool_;
};

}  // namespace kafscope
