#include "frame/buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace kafscope {

namespace {
constexpr std::align_val_t kAlignment{64};
constexpr size_t kSmallest = 256;
}  // namespace

Buffer::~Buffer() { Free(); }

void Buffer::Free() {
  if (data_ != nullptr) ::operator delete(data_, kAlignment);
  data_ = nullptr;
  capacity_ = 0;
}

void Buffer::Grow(size_t bytes, size_t keep) {
  const size_t capacity = std::max({bytes, capacity_ * 2, kSmallest});
  auto* data = static_cast<uint8_t*>(::operator new(capacity + kPadding, kAlignment));
  if (keep > 0) std::memcpy(data, data_, keep);
  if (data_ != nullptr) ::operator delete(data_, kAlignment);
  data_ = data;
  capacity_ = capacity;
}

}  // namespace kafscope
