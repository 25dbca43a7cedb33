#include "frame/frame.h"

#include <mutex>

namespace kafscope {

namespace {

size_t Capacity(const ColumnData& column) {
  return column.validity.capacity() + column.values.capacity() + column.data.capacity();
}

}  // namespace

struct FramePool::State {
  std::mutex mutex;
  std::vector<Frame*> frames;  // guarded by mutex
};

Frame::Frame() = default;
Frame::~Frame() = default;

void FramePtr::Release() {
  if (frame_ == nullptr) return;
  if (frame_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    // The pool may go with this frame, so it is held until the frame is back.
    const std::shared_ptr<FramePool> pool = std::move(frame_->pool_);
    if (pool != nullptr) {
      pool->Give(frame_);
    } else {
      delete frame_;
    }
  }
  frame_ = nullptr;
}

FramePool::FramePool() : state_(std::make_unique<State>()) { state_->frames.reserve(kMaxFrames); }

FramePool::~FramePool() {
  for (const Frame* frame : state_->frames) delete frame;
}

std::shared_ptr<FramePool> FramePool::Make() { return std::shared_ptr<FramePool>(new FramePool()); }

Frame* FramePool::Take() {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->frames.empty()) {
      Frame* frame = state_->frames.back();
      state_->frames.pop_back();
      return frame;
    }
  }
  return new Frame();
}

void FramePool::Give(Frame* frame) {
  size_t bytes = 0;
  for (const ColumnData& column : frame->columns_) bytes += Capacity(column);
  if (bytes <= kMaxBytes) {
    frame->schema_.reset();
    const std::lock_guard lock(state_->mutex);
    if (state_->frames.size() < kMaxFrames) {
      state_->frames.push_back(frame);
      return;
    }
  }
  delete frame;
}

}  // namespace kafscope
