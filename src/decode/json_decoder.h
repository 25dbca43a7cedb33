// JsonEngine: one JSON text a record → typed columns, in one pass over its bytes.
//
// The plan is learnt: every object path is a node that keeps its children in the order in which they were last seen,
// with the one expected next. The raw key is compared with that expectation; only a miss searches. Values go straight
// into their columns, with all their digits. Objects flatten by dots down to `max_depth` names; deeper ones, arrays and
// empty containers are kept as their own JSON text. A top-level array gives item_0, item_1, …
//
// Rules: docs/values.md. Cost: no allocation once every path has been seen. Threads: the consume thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "decode/column_names.h"
#include "decode/decode_options.h"
#include "decode/json_text.h"
#include "decode/row_writer.h"

namespace kafscope {

class JsonEngine {
 public:
  static Result<std::unique_ptr<JsonEngine>> Make(const DecodeOptions& options, ValueScope scope);
  ~JsonEngine();

  void Attach(FrameBuilder& builder);
  bool Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows);
  std::vector<std::string> notes() const;

  // As a key (EngineKeyDecoder): into the open row; a failure leaves the row's key columns null.
  bool Waiting(const ConsumerRecord&, std::string_view) const { return false; }
  DecodeError AppendTo(const ConsumerRecord& record, std::string_view payload, FrameBuilder& builder,
                       DecodeCounters& counters);

 private:
  struct Node;
  struct Child;
  struct Top;

  JsonEngine(const DecodeOptions& options, ValueScope scope);

  // Each parser takes the position of what it reads and gives the one after it; null: a fault, kept in fault_.
  DecodeError Parse(std::string_view payload);
  std::string_view StripPrefix(std::string_view payload, size_t* stripped);
  bool TakeText(std::string_view payload);
  const char* ParseTop(const char* at);
  const char* ParseObject(const char* at, Node& node, uint32_t level);
  const char* ParseTopArray(const char* at);
  // One value of `child`; `level` is how many names its column's name has.
  const char* ParseValue(const char* at, Child& child, uint32_t level);
  const char* ParseNumber(const char* at, Child& child);
  const char* ParseLongNumber(const char* at, Child& child);
  const char* ParseEscapedString(const char* begin, const char* stop, Child& child);
  const char* ParseWord(const char* at, Child& child);
  const char* ParseNested(const char* at, Child& child, uint32_t level);
  const char* AppendRaw(const char* at, Child& child, uint32_t level);
  const char* Fault(const char* at, std::string_view text);
  const char* Fault(const JsonCursor& cursor) { return Fault(cursor.at, cursor.fault); }

  const char* SearchKey(const char* at, Node& node, const Child* next, Child** child);
  Child* FindOrAddChild(Node& node, const RawString& key);
  Child* AddChild(Node& node, std::string_view raw_key, std::string_view key);
  void RepeatedKey(Child& child);
  void ClearRow(Child& child);
  void ClearRow(Node& node);
  void AddColumn(Child& child);
  void ForgetColumns(Child& child);
  void ForgetColumns(Node& node);

  const DecodeOptions& options_;
  ColumnNames names_;
  bool predict_keys_;
  std::unique_ptr<Node> root_;       // of objects
  std::unique_ptr<Node> top_array_;  // its children are item_0, item_1, …
  std::unique_ptr<Top> scalar_;      // a lone value
  std::unique_ptr<Top> overflow_;    // stands for a path beyond kMaxNodes
  size_t nodes_ = 0;
  uint32_t row_stamp_ = 0;
  FrameBuilder* builder_ = nullptr;
  DecodeCounters* counters_ = nullptr;
  std::vector<char> text_;          // the payload, with padding behind it
  const char* text_end_ = nullptr;  // of the padding
  std::string_view fault_;
  const char* fault_at_ = nullptr;
  int64_t last_schema_id_ = -1;
};

}  // namespace kafscope
