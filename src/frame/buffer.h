// Buffer: a growable block of bytes that keeps its memory when emptied.
//
// Cost: Grow() at least doubles, so appends are O(1) amortised; Clear() keeps the capacity. The block is aligned to 64
// bytes and has kPadding bytes behind its capacity that may be overwritten, so that copies can be done in whole words.
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kafscope {

class Buffer {
 public:
  static constexpr size_t kPadding = 64;

  Buffer() = default;
  ~Buffer();
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t capacity() const { return capacity_; }
  // Makes capacity() >= bytes and keeps the first `keep` bytes; the rest is not initialised.
  void Reserve(size_t bytes, size_t keep) {
    if (bytes > capacity_) Grow(bytes, keep);
  }
  void Free();

 private:
  void Grow(size_t bytes, size_t keep);

  uint8_t* data_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace kafscope
