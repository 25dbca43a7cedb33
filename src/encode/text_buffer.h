// TextBuffer: room for text that is written unchecked, in worst-case pieces, and copied out once.
//
//   char* p = text.Room(kMaxIntegerSize);  text.SetEnd(WriteInt64(42, p));
//
// Cost: one compare a Room(); the memory stays for the next frame, up to kMaxKeptBytes. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "frame/buffer.h"

namespace kafscope {

class TextBuffer {
 public:
  static constexpr size_t kMaxKeptBytes = 8 << 20;
  static constexpr size_t kSlack = 16;  // block-wise writers may write so far beyond what they were given

  // The end of the text, with room for `bytes` and kSlack more. Valid until the next call.
  char* Room(size_t bytes) {
    buffer_.Reserve(size_ + bytes + kSlack, size_);
    return begin() + size_;
  }
  void SetEnd(const char* end) { size_ = static_cast<size_t>(end - begin()); }
  void Put(std::string_view text) {
    std::memcpy(Room(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void Put(char c) {
    *Room(1) = c;
    ++size_;
  }
  // Appends the text to `out` and forgets it.
  void MoveTo(std::string* out) {
    out->append(begin(), size_);
    size_ = 0;
    if (buffer_.capacity() > kMaxKeptBytes) buffer_.Free();
  }

 private:
  char* begin() { return reinterpret_cast<char*>(buffer_.data()); }

  Buffer buffer_;
  size_t size_ = 0;
};

}  // namespace kafscope
