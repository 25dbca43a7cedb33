// ProtobufPlan: a message type compiled to tables that walk wire bytes and write into columns.
//
//   message A { int32 i = 1; B b = 2; repeated string s = 3; }      message B { string x = 1; Timestamp t = 2; }
//   →  node A: 08 kInt32 i | 12 kMessage → node B | 1a kText s       node B: 0a kString b.x | 12 kTimestamp b.t
//
// Per field the next one of the table is expected; only a miss looks the number up. Messages become columns with dots
// to `max_depth` names; what is deeper, repeated fields and maps are JSON text (protobuf_text.h). Of a message type
// inside itself the columns are added when data first has them. The rules of Protobuf hold: the last of several values
// wins, messages that come in parts are merged, an arm of a oneof replaces the others. A message that is there shows
// the defaults of its fields without presence; one that is not there is null in all its columns.
//
// Cost: Compile() allocates; Run() does not once its buffers are warm. Threads: a plan writes to the columns of one
// builder, on its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/protobuf_text.h"
#include "decode/protobuf_wire.h"
#include "frame/column.h"
#include "schema/protobuf_schema.h"

namespace kafscope {

class ProtobufPlan {
 public:
  static constexpr size_t kMaxEagerOps = 5'000;  // beyond, messages are compiled when data first has them
  static constexpr size_t kMaxOps = 100'000;     // beyond, they are JSON text

  struct Options {
    uint32_t max_depth = 5;
    bool predict = true;  // false: every field is looked up (performance switch)
    // The column of a path like "a.b"; null: left out (field cap). Must give the same column for the same path.
    std::function<Column*(const std::string& path)> column;
  };
  static std::unique_ptr<ProtobufPlan> Compile(std::shared_ptr<const ProtobufSchema> schema, uint32_t message,
                                               Options options);
  ~ProtobufPlan();

  // Reads one message that fills `payload`. REQUIRES: an open row of the columns' builder.
  ProtobufFault Run(std::string_view payload);
  // Of the last Run(): where in the payload the fault is.
  size_t fault_at() const { return fault_at_; }
  // Since the plan was made.
  uint64_t unknown_fields() const { return unknown_fields_ + text_.unknown_fields(); }
  uint64_t replaced_utf8() const { return replaced_utf8_ + text_.replaced_utf8(); }
  // Takes back what Run() wrote into the open row.
  void ClearRow();

 private:
  enum class Code : uint8_t {
    kInt32,
    kInt64,
    kUint32,
    kUint64,
    kSint32,
    kSint64,
    kBool,
    kEnum,
    kFixed32,
    kSfixed32,
    kFloat,
    kFixed64,
    kSfixed64,
    kDouble,
    kString,       // checked: proto3
    kLooseString,  // repaired: proto2
    kBytes,
    kTimestamp,
    kMessage,
    kGroup,
    kText,   // JSON text of all occurrences, written at the end of the row
    kPlain,  // the same without quotes: Duration, FieldMask
  };
  struct Node;
  struct Op {
    uint32_t tag = 0;
    Code code = Code::kInt32;
    bool again = false;  // repeated: the same field is likely to follow
    int16_t oneof = -1;
    Column* column = nullptr;  // null: left out
    const ProtobufField* field = nullptr;
    uint32_t text = 0;            // kText, kPlain: index in texts_
    std::unique_ptr<Node> child;  // kMessage, kGroup
  };
  // Of one message type at one place in the tree of columns.
  struct Node {
    const ProtobufMessage* message = nullptr;
    std::string path;
    uint32_t depth = 0;  // names in the path
    std::vector<uint32_t> ancestors;
    uint32_t index = 0;  // of the message
    bool compiled = false;
    std::vector<Op> ops;                    // by number
    std::vector<uint8_t> by_number;         // number → op + 1, for small numbers
    uint64_t defaults = 0;                  // ops below 64 that show a default when they do not come
    std::vector<uint32_t> defaults_beyond;  // those from 64 on
    std::vector<std::vector<Op*>> oneofs;   // the arms of each
    Column* wrapped = nullptr;              // a wrapper: the column of its value
  };
  struct Text {
    Op* op;
    uint64_t row = 0;         // the row that the next is of
    uint32_t valid_from = 0;  // pieces before this one were replaced (oneof)
  };

  ProtobufPlan(std::shared_ptr<const ProtobufSchema> schema, Options options);

  void CompileNode(Node& node);
  void CompileField(Node& node, const ProtobufField& field, Op* op);
  void CompileMessageField(Node& node, const ProtobufField& field, const std::string& path, Op* op);
  void MakeText(Op* op, Code code, Column* column);
  Op* Find(Node& node, uint32_t tag);
  const uint8_t* RunNode(Node& node, const uint8_t* at, const uint8_t* end, uint32_t end_tag, int depth);
  const uint8_t* RunOp(Op& op, uint32_t tag, const uint8_t* at, const uint8_t* end, int depth);
  const uint8_t* RunString(Op& op, const uint8_t* at, const uint8_t* end);
  const uint8_t* RunTimestamp(Op& op, const uint8_t* at, const uint8_t* end);
  const uint8_t* KeepPiece(Op& op, uint32_t tag, const uint8_t* at, const uint8_t* end, int depth);
  void WriteEnum(Op& op, int32_t number);
  void WriteDefaults(Node& node, uint64_t seen);
  void WriteDefault(Op& op);
  void ReplaceArms(Node& node, const Op& op);
  void Clear(Op& op);
  bool WriteTexts();
  const uint8_t* Fail(ProtobufFault fault, const uint8_t* at) {
    fault_ = fault;
    at_ = at;
    return nullptr;
  }

  std::shared_ptr<const ProtobufSchema> schema_;
  Options options_;
  Node root_;
  size_t num_ops_ = 0;
  ProtobufText text_;
  std::vector<Text> texts_;
  std::vector<ProtobufPiece> pieces_;  // of the row, as they come
  uint64_t row_ = 0;
  ProtobufFault fault_ = ProtobufFault::kNone;
  const uint8_t* at_ = nullptr;
  size_t fault_at_ = 0;
  uint64_t unknown_fields_ = 0;
  uint64_t replaced_utf8_ = 0;
};

}  // namespace kafscope
