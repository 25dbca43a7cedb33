// ProtobufRaw: Protobuf without a schema. Columns are field numbers (`1`, `2.1`), types a guess from the wire, as
// `protoc --decode_raw` makes it:
//
//   varint                 uint64, as it stands (a negative int32 shows as 18446744073709551615, a bool as 1)
//   fixed32, fixed64       text of its hexadecimal digits, 0x3f800000: integer and floating point look alike
//   length-delimited       printable ASCII: text; else a message, if all of it reads as one; else text if it is UTF-8;
//                          else bytes
//   group                  a message
//
// A field that comes more than once in a message is a JSON array in one column of text; messages deeper than the
// query's depth are JSON text. Cost: a look-up per field; for a first look at data, not for rates. Threads: the consume
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decode/column_names.h"
#include "decode/protobuf_wire.h"
#include "frame/frame_builder.h"

namespace kafscope {

class ProtobufRaw {
 public:
  ProtobufRaw(ValueScope scope, uint32_t max_depth) : names_(scope), max_depth_(max_depth) {}

  void Attach(FrameBuilder&) { columns_.clear(); }
  // Reads one message that fills `payload`. REQUIRES: an open row of `builder`.
  ProtobufFault Run(std::string_view payload, FrameBuilder& builder);
  // Of the last Run(): where in the payload the fault is.
  size_t fault_at() const { return fault_at_; }

 private:
  struct Field {
    uint32_t number;
    WireType wire;
    std::string_view bytes;  // lengths and groups: the content; else the value
  };
  enum class Guess : uint8_t { kText, kMessage, kBytes };

  // Fields in the order of their numbers, those of one number as they came. False: malformed.
  static bool Split(std::string_view message, std::vector<Field>* fields, ProtobufFault* fault, const uint8_t** at);
  static Guess GuessOf(const Field& field, int depth);
  void WriteMessage(std::string_view message, const std::string& path, uint32_t depth, FrameBuilder& builder);
  void WriteField(const Field& field, const std::string& path, uint32_t depth, FrameBuilder& builder);
  static void AppendJson(const Field& field, int depth, std::string* out);
  static void AppendJsonArray(const Field* begin, const Field* end, int depth, std::string* out);
  static void AppendJsonMessage(std::string_view message, int depth, std::string* out);
  Column* ColumnOf(const std::string& path, FrameBuilder& builder);

  ColumnNames names_;
  uint32_t max_depth_;
  std::unordered_map<std::string, Column*> columns_;
  size_t fault_at_ = 0;
};

}  // namespace kafscope
