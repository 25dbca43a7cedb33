// Frame: a sealed micro-batch. Typed columns in Arrow's layout, their schema, and the statistics of the batch.
//
// Made by FrameBuilder::Finish() only. Immutable, so shareable without locks; FramePtr counts references, and the last
// one gives the storage back to the FramePool it came from (or frees it).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "frame/buffer.h"
#include "frame/schema.h"

namespace kafscope {

class FramePool;

// One column of num_rows values. Layout as Arrow: `validity` is a bitmap, least significant bit first, 1 = value;
// `values` holds 8 bytes a row (int64, uint64, float64, time), 4 (int32) or one bit (bool); strings and bytes have
// num_rows + 1 uint32 `offsets` into `data`. Slots of nulls hold zeroes or an empty range.
struct ColumnData {
  DataType type = DataType::kNull;
  uint32_t null_count = 0;
  Buffer validity;
  Buffer values;  // for strings and bytes: the offsets
  Buffer data;    // strings and bytes only
  size_t data_size = 0;

  bool IsNull(size_t row) const { return (validity.data()[row >> 3] >> (row & 7) & 1) == 0; }
  bool Bool(size_t row) const { return (values.data()[row >> 3] >> (row & 7) & 1) != 0; }
  int32_t Int32(size_t row) const { return reinterpret_cast<const int32_t*>(values.data())[row]; }
  int64_t Int64(size_t row) const { return reinterpret_cast<const int64_t*>(values.data())[row]; }
  uint64_t Uint64(size_t row) const { return reinterpret_cast<const uint64_t*>(values.data())[row]; }
  double Float64(size_t row) const { return reinterpret_cast<const double*>(values.data())[row]; }
  const uint32_t* offsets() const { return reinterpret_cast<const uint32_t*>(values.data()); }
  std::string_view Text(size_t row) const {
    const uint32_t* o = offsets();
    return {reinterpret_cast<const char*>(data.data()) + o[row], o[row + 1] - o[row]};
  }
};

// Counted by the builder and the decoder per batch; they travel with the frame.
struct FrameStats {
  uint64_t records = 0;  // records taken in (a line-protocol record gives several rows, a skipped one none)
  uint64_t error_rows = 0;
  uint64_t payload_bytes = 0;
};

class Frame {
 public:
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame();

  const Schema& schema() const { return *schema_; }
  const std::shared_ptr<const Schema>& shared_schema() const { return schema_; }
  size_t num_rows() const { return num_rows_; }
  size_t num_columns() const { return schema_->num_fields(); }
  // In the order of schema().fields().
  const ColumnData& column(size_t i) const { return columns_[i]; }
  const FrameStats& stats() const { return stats_; }
  // Bytes of all buffers in use, for the memory budget.
  size_t byte_size() const { return byte_size_; }

 private:
  friend class FrameBuilder;
  friend class FramePool;
  friend class FramePtr;
  Frame();

  std::shared_ptr<const Schema> schema_;
  std::vector<ColumnData> columns_;  // may be longer than the schema: storage kept for later
  size_t num_rows_ = 0;
  size_t byte_size_ = 0;
  FrameStats stats_;
  std::shared_ptr<FramePool> pool_;  // null: freed
  std::atomic<uint32_t> references_{0};
};

// A counted reference to an immutable Frame. Threads: copies may live on any thread.
class FramePtr {
 public:
  FramePtr() = default;
  FramePtr(const FramePtr& other) : frame_(other.frame_) {
    if (frame_ != nullptr) frame_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  FramePtr(FramePtr&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  FramePtr& operator=(FramePtr other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~FramePtr() { Release(); }

  const Frame* operator->() const { return frame_; }
  const Frame& operator*() const { return *frame_; }
  const Frame* get() const { return frame_; }
  explicit operator bool() const { return frame_ != nullptr; }

 private:
  friend class FrameBuilder;
  explicit FramePtr(Frame* frame) : frame_(frame) { frame_->references_.fetch_add(1, std::memory_order_relaxed); }
  void Release();

  Frame* frame_ = nullptr;
};

// Keeps the storage of dropped frames for the next ones. Shared by a stream's builder and its frames.
// Bound: at most kMaxFrames, and none that grew beyond kMaxBytes. Threads: safe.
class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  static constexpr size_t kMaxFrames = 16;
  static constexpr size_t kMaxBytes = 8 << 20;

  static std::shared_ptr<FramePool> Make();
  ~FramePool();

 private:
  friend class FrameBuilder;
  friend class FramePtr;
  FramePool();
  Frame* Take();
  void Give(Frame* frame);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kafscope
