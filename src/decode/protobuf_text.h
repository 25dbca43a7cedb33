// ProtobufText writes Protobuf values as JSON text: repeated fields, maps, and messages deeper than the query's depth
// become one column of text.
//
// As ProtoJSON with the names of the .proto and with defaults shown, except that 64-bit integers are numbers of all
// their digits: bytes are base64; an enum is its name, or its number if it has none; NaN and infinities are the strings
// "NaN", "Infinity", "-Infinity"; Timestamp, Duration, FieldMask, wrappers, Struct, Value and Any have their own forms.
// The keys of a map are sorted (numbers as numbers, text by its bytes); of equal keys the last wins. An Any of a type
// that the schema does not know is {"@type":URL,"value":base64}.
//
// Cost: two passes over the bytes (find the fields, write them in order); allocates only while its buffers grow.
// Bounds: kMaxText, kMaxProtobufDepth. Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/protobuf_wire.h"
#include "frame/buffer.h"
#include "schema/protobuf_schema.h"

namespace kafscope {

// One occurrence of a field: the bytes of its value, for wire types 2 and 3 without length and end tag.
struct ProtobufPiece {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
  WireType wire = WireType::kVarint;
  uint8_t depth = kMaxProtobufDepth;  // levels of messages that may be inside
  uint32_t owner = 0;                 // whose it is: field of a message, column of a plan
};

class ProtobufText {
 public:
  static constexpr size_t kMaxText = 32 << 20;

  explicit ProtobufText(std::shared_ptr<const ProtobufSchema> schema);

  // Writes all occurrences of `field` in one message as one value, behind text(). False: fault() says why.
  bool WriteField(const ProtobufField& field, std::span<const ProtobufPiece> pieces);
  // The same without the quotes, for a column: Duration, FieldMask. REQUIRES: a singular field of such a type.
  bool WritePlain(const ProtobufField& field, std::span<const ProtobufPiece> pieces);
  std::string_view text() const { return {reinterpret_cast<const char*>(buffer_.data()), size_}; }
  void Clear() {
    size_ = 0;
    pieces_.clear();
    oneofs_.clear();
    entries_.clear();
  }

  ProtobufFault fault() const { return fault_; }
  const uint8_t* fault_at() const { return fault_at_; }
  // Since the object was made.
  uint64_t unknown_fields() const { return unknown_fields_; }
  uint64_t replaced_utf8() const { return replaced_utf8_; }

 private:
  // Pieces on the stack: all occurrences of one field, or all of one message by field.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
    bool empty() const { return begin == end; }
  };
  struct Oneof {
    uint32_t member = UINT32_MAX;         // field seen last
    const uint8_t* valid_from = nullptr;  // what stands before has been replaced
  };
  struct MapEntry {
    uint64_t number = 0;  // of integers and bool, so that their order is that of unsigned numbers
    std::string_view text;
    Range value;
  };

  Range Push(std::span<const ProtobufPiece> pieces);
  void PopTo(size_t size) { pieces_.resize(size); }
  bool WriteValue(const ProtobufField& field, Range range, int depth);
  bool WriteSingle(const ProtobufField& field, Range range, int depth);
  bool WriteScalar(const ProtobufField& field, const ProtobufPiece& piece);
  const uint8_t* WriteElement(const ProtobufField& field, const uint8_t* at, const uint8_t* end);
  void WriteVarint(const ProtobufField& field, uint64_t bits);
  void WriteEnum(const ProtobufField& field, int32_t number);
  void WriteDefault(const ProtobufField& field);
  bool WriteRepeated(const ProtobufField& field, Range range, int depth);
  bool WriteMap(const ProtobufField& field, Range range, int depth);
  bool ReadMapKey(const ProtobufField& key, const ProtobufPiece& piece, MapEntry* entry);
  bool WriteMapKey(const ProtobufField& key, const MapEntry& entry);
  bool WriteMessage(const ProtobufMessage& message, Range slices, int depth);
  bool WriteFields(const ProtobufMessage& message, Range range, int depth, bool first);
  bool WriteKnown(const ProtobufMessage& message, Range slices, int depth);
  bool WriteAny(const ProtobufMessage& message, Range range, int depth);
  bool WriteSeconds(const ProtobufMessage& message, Range slices);
  bool WriteFieldMask(Range range);
  bool WriteString(std::string_view bytes, bool check);
  void WriteBase64Text(std::string_view bytes);
  void WriteNumber(double value);
  bool Collect(const ProtobufMessage& message, Range slices, int depth, Range* range);
  bool CollectSlice(const ProtobufMessage& message, ProtobufPiece slice, int depth, size_t oneofs);

  bool Fail(ProtobufFault fault, const uint8_t* at) {
    fault_ = fault;
    fault_at_ = at;
    return false;
  }
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

  std::shared_ptr<const ProtobufSchema> schema_;
  std::vector<std::vector<std::string>> keys_;  // of messages and their fields: `"name":`
  Buffer buffer_;
  size_t size_ = 0;
  std::vector<ProtobufPiece> pieces_;  // a stack: of the message at hand on top
  std::vector<Oneof> oneofs_;
  std::vector<MapEntry> entries_;
  std::string scratch_;
  ProtobufFault fault_ = ProtobufFault::kNone;
  const uint8_t* fault_at_ = nullptr;
  uint64_t unknown_fields_ = 0;
  uint64_t replaced_utf8_ = 0;
};

// Seconds and nanos of a Timestamp or Duration from all its occurrences; false where the bytes are malformed.
bool ReadSecondsAndNanos(std::span<const ProtobufPiece> slices, int64_t* seconds, int32_t* nanos);
bool IsValidTimestamp(int64_t seconds, int32_t nanos);
bool IsValidDuration(int64_t seconds, int32_t nanos);
// RFC 3339 with 0, 3, 6 or 9 fraction digits, years 1 to 9999. REQUIRES: valid; room for 30 bytes.
char* WriteTimestamp(int64_t seconds, int32_t nanos, char* out);
// "-1.500s". REQUIRES: valid; room for 30 bytes.
char* WriteDuration(int64_t seconds, int32_t nanos, char* out);

}  // namespace kafscope
