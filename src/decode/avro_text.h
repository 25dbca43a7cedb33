// AvroText writes any Avro value as JSON text: arrays, maps, and records deeper than the query's depth become one
// column of text. Unions are written as their value, without the name of the arm; bytes and fixed as base64; NaN and
// infinities as the strings "NaN", "Infinity", "-Infinity"; instants as RFC 3339, dates as "2024-02-29"; decimals as
// numbers up to 15 digits of precision, else as strings of their exact digits; a map keeps the order of its bytes.
//
// Cost: one pass; allocates only while its buffer grows. Bounds: kMaxDepth, kMaxText, kMaxEmptyItems.
// Threads: an AvroText is immutable; an AvroTextState belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decode/avro_reader.h"
#include "frame/buffer.h"
#include "schema/avro_schema.h"

namespace kafscope {

// What decoding one record writes to beside the columns; kept from record to record.
class AvroTextState {
 public:
  static constexpr size_t kMaxText = 32 << 20;
  static constexpr uint64_t kMaxEmptyItems = 100'000;  // a record: values that take no byte

  std::string_view text() const { return {reinterpret_cast<const char*>(buffer_.data()), size_}; }
  void Clear() { size_ = 0; }
  // Room for `size` bytes behind the text; End() says where the new text ends.
  char* Room(size_t size) {
    buffer_.Reserve(size_ + size, size_);
    return reinterpret_cast<char*>(buffer_.data()) + size_;
  }
  void End(const char* end) { size_ = static_cast<size_t>(end - reinterpret_cast<char*>(buffer_.data())); }
  void Append(std::string_view text) {
    char* to = Room(text.size());
    std::memcpy(to, text.data(), text.size());
    size_ += text.size();
  }
  void Append(char c) {
    *Room(1) = c;
    ++size_;
  }
  void DropLast() { --size_; }

  std::string scratch;         // a value on its way
  uint64_t empty_items = 0;    // since the record began
  uint64_t replaced_utf8 = 0;  // texts with a replacement, since the record began

 private:
  Buffer buffer_;
  size_t size_ = 0;
};

class AvroText {
 public:
  static constexpr int kMaxDepth = 300;

  explicit AvroText(std::shared_ptr<const AvroSchema> schema);

  // Reads one value of type `node` and writes it behind state.text().
  AvroFault Write(uint32_t node, AvroCursor& cursor, AvroTextState& state) const {
    return WriteValue(node, cursor, state, kMaxDepth);
  }

 private:
  AvroFault WriteValue(uint32_t node, AvroCursor& cursor, AvroTextState& state, int depth) const;
  AvroFault WriteLogical(const AvroNode& node, AvroCursor& cursor, AvroTextState& state) const;
  AvroFault WriteItems(const AvroNode& node, AvroCursor& cursor, AvroTextState& state, int depth) const;
  AvroFault WriteString(AvroCursor& cursor, AvroTextState& state) const;

  std::shared_ptr<const AvroSchema> schema_;
  std::vector<std::vector<std::string>> keys_;  // by node: `{"name":`, `,"name":`, …
};

}  // namespace kafscope
