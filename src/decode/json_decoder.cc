#include "decode/json_decoder.h"

#include <cstring>

#include "base/perf_switches.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

// Paths that a plan may hold; beyond it a value still gets its column, by its name each time.
constexpr size_t kMaxNodes = 65'536;
constexpr size_t kRegistryPrefix = 5;

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace

// A path. The names of `raw_key` and `next` are what key prediction lives by.
struct JsonEngine::Node {
  Node* parent = nullptr;
  std::string raw_key;  // as it stands in the text, with the closing quote and the colon
  std::string name;     // of its column, before a clash is resolved
  std::string path;     // tells apart what the name cannot
  Column* column = nullptr;
  bool cut = false;    // beyond the field cap
  uint32_t stamp = 0;  // the row in which it was last seen
  uint32_t next = 0;   // index of the child expected next
  std::vector<std::unique_ptr<Node>> owned;
  std::vector<Node*> order;                                                        // children as last seen
  uint32_t place = 0;                                                              // own index in the parent's order
  std::unordered_map<std::string, Node*, StringHash, std::equal_to<>> by_raw_key;  // aliases of one key included
  std::unordered_map<std::string, Node*, StringHash, std::equal_to<>> by_key;
};

JsonEngine::JsonEngine(const DecodeOptions& options, ValueScope scope)
    : options_(options),
      names_(scope),
      predict_keys_(!PerfDisabled(PerfSwitch::kKeyPrediction)),
      root_(std::make_unique<Node>()),
      top_array_(std::make_unique<Node>()),
      scalar_(std::make_unique<Node>()),
      overflow_(std::make_unique<Node>()) {}

JsonEngine::~JsonEngine() = default;

Result<std::unique_ptr<JsonEngine>> JsonEngine::Make(const DecodeOptions& options, ValueScope scope) {
  if (options.max_depth < 1 || options.max_depth > 64) {
    return Fail(Status::InvalidArgument("--max-depth must be from 1 to 64"));
  }
  return std::unique_ptr<JsonEngine>(new JsonEngine(options, scope));
}

void JsonEngine::Attach(FrameBuilder& builder) {
  builder_ = &builder;
  ForgetColumns(*root_);
  ForgetColumns(*top_array_);
  ForgetColumns(*scalar_);
}

void JsonEngine::ForgetColumns(Node& node) {
  node.column = nullptr;
  node.cut = false;
  for (const auto& child : node.owned) ForgetColumns(*child);
}

bool JsonEngine::Decode(const ConsumerRecord&, std::string_view payload, RowWriter& rows) {
  counters_ = &rows.counters();
  rows.Begin();
  const DecodeError error = Parse(payload);
  if (error.ok()) [[likely]] {
    rows.Commit();
  } else {
    rows.Fail(error);
  }
  return true;
}

DecodeError JsonEngine::AppendTo(const ConsumerRecord&, std::string_view payload, FrameBuilder& builder,
                                 DecodeCounters& counters) {
  builder_ = &builder;
  counters_ = &counters;
  const DecodeError error = Parse(payload);
  if (!error.ok()) {
    for (Node* node : {root_.get(), top_array_.get(), scalar_.get()}) ClearRow(*node);
  }
  return error;
}

std::string_view JsonEngine::StripPrefix(std::string_view payload, size_t* stripped) {
  // No JSON text begins with a zero byte, so the prefix cannot be mistaken for one.
  *stripped = 0;
  if (options_.framing == Framing::kNone || payload.size() <= kRegistryPrefix || payload[0] != '\0') return payload;
  uint32_t id = 0;
  for (size_t i = 1; i < kRegistryPrefix; ++i) id = id << 8 | static_cast<uint8_t>(payload[i]);
  last_schema_id_ = static_cast<int64_t>(id);
  *stripped = kRegistryPrefix;
  return payload.substr(kRegistryPrefix);
}

DecodeError JsonEngine::Parse(std::string_view payload) {
  size_t stripped = 0;
  payload = StripPrefix(payload, &stripped);
  if (payload.empty()) return {ErrorReason::kEmptyValue, 0, "an empty value is no JSON text"};
  if (const size_t valid = ValidUtf8Prefix(payload); valid != payload.size()) [[unlikely]] {
    return {ErrorReason::kInvalidUtf8, stripped + valid, "not UTF-8"};
  }
  if (text_.size() < payload.size() + kJsonPadding) text_.resize(2 * payload.size() + kJsonPadding);
  std::memcpy(text_.data(), payload.data(), payload.size());
  std::memset(text_.data() + payload.size(), 0, kJsonPadding);
  text_end_ = text_.data() + payload.size() + kJsonPadding;
  ++row_stamp_;
  JsonCursor cursor{text_.data(), {}};
  if (ParseTop(cursor)) [[likely]] {
    SkipSpace(cursor);
    if (cursor.at == text_.data() + payload.size()) [[likely]]
      return {};
    cursor.fault = "text after the JSON value";
  }
  const auto position = static_cast<size_t>(cursor.at - text_.data());
  if (position == payload.size()) cursor.fault = "the text ends before the value does";
  return {ErrorReason::kInvalidJson, stripped + position, cursor.fault};
}

bool JsonEngine::ParseTop(JsonCursor& cursor) {
  SkipSpace(cursor);
  if (*cursor.at == '{') {
    JsonCursor look = cursor;
    ++look.at;
    SkipSpace(look);
    if (*look.at != '}') return ParseObject(cursor, *root_, 1);
  } else if (*cursor.at == '[') {
    JsonCursor look = cursor;
    ++look.at;
    SkipSpace(look);
    if (*look.at != ']') return ParseTopArray(cursor);
  }
  // A lone scalar, {} or []: the column of a lone value.
  scalar_->stamp = row_stamp_;
  return ParseValue(cursor, *scalar_, options_.max_depth);
}

bool JsonEngine::ParseTopArray(JsonCursor& cursor) {
  ++cursor.at;
  for (size_t index = 0;; ++index) {
    Node* child = index < top_array_->order.size() ? top_array_->order[index] : nullptr;
    if (child == nullptr) {
      const std::string name = "item_" + std::to_string(index);
      child = AddChild(*top_array_, name, name);
    }
    StartChild(*child);
    if (!ParseValue(cursor, *child, 1)) return false;
    SkipSpace(cursor);
    const char c = *cursor.at;
    if (c != ',' && c != ']') return cursor.Failed("expected ',' or ']'");
    ++cursor.at;
    if (c == ']') return true;
  }
}

bool JsonEngine::ParseObject(JsonCursor& cursor, Node& node, uint32_t level) {
  node.next = 0;
  ++cursor.at;
  SkipSpace(cursor);
  for (;;) {
    if (*cursor.at != '"') return cursor.Failed("expected a key in quotes");
    ++cursor.at;
    Node* child = nullptr;
    if (!MatchKey(cursor, node, &child)) return false;
    StartChild(*child);
    if (!ParseValue(cursor, *child, level)) return false;
    SkipSpace(cursor);
    const char c = *cursor.at;
    if (c != ',' && c != '}') return cursor.Failed("expected ',' or '}'");
    ++cursor.at;
    if (c == '}') return true;
    SkipSpace(cursor);
  }
}

bool JsonEngine::MatchKey(JsonCursor& cursor, Node& node, Node** child) {
  if (predict_keys_ && node.next < node.order.size()) [[likely]] {
    Node* expected = node.order[node.next];
    const std::string& raw = expected->raw_key;
    const bool fits = raw.size() <= static_cast<size_t>(text_end_ - cursor.at);
    if (fits && std::memcmp(cursor.at, raw.data(), raw.size()) == 0) [[likely]] {
      cursor.at += raw.size();
      ++node.next;
      *child = expected;
      return true;
    }
  }
  RawString key;
  if (!ReadString(cursor, &key)) return false;
  *child = FindChild(node, key.text);
  if (*child == nullptr) {
    if (key.escaped) {
      std::string plain(key.text.size(), '\0');
      plain.resize(static_cast<size_t>(Unescape(key.text, plain.data(), &counters_->replaced_utf8) - plain.data()));
      *child = AddChild(node, key.text, plain);
    } else {
      *child = AddChild(node, key.text, key.text);
    }
  }
  if ((*child)->parent == &node) node.next = (*child)->place + 1;
  SkipSpace(cursor);
  if (*cursor.at != ':') return cursor.Failed("expected ':'");
  ++cursor.at;
  return true;
}

JsonEngine::Node* JsonEngine::FindChild(Node& node, std::string_view raw_key) {
  const auto found = node.by_raw_key.find(raw_key);
  return found == node.by_raw_key.end() ? nullptr : found->second;
}

JsonEngine::Node* JsonEngine::AddChild(Node& node, std::string_view raw_key, std::string_view key) {
  // Another spelling of a known key: "a" and "\u0061".
  if (const auto known = node.by_key.find(key); known != node.by_key.end()) {
    if (node.by_raw_key.size() < kMaxNodes) node.by_raw_key.emplace(raw_key, known->second);
    return known->second;
  }
  const bool fits = nodes_ < kMaxNodes;
  auto fresh = std::make_unique<Node>();
  fresh->parent = fits ? &node : nullptr;
  fresh->name = node.name;
  AppendNamePart(key, &fresh->name);
  fresh->path = node.path;
  fresh->path.push_back('\0');  // no key of a path can be confused with a dot
  fresh->path.append(key);
  if (!fits) {
    overflow_ = std::move(fresh);
    return overflow_.get();
  }
  ++nodes_;
  fresh->raw_key.assign(raw_key).append("\":");
  fresh->place = static_cast<uint32_t>(node.order.size());
  Node* child = fresh.get();
  node.owned.push_back(std::move(fresh));
  node.order.push_back(child);
  node.by_raw_key.emplace(raw_key, child);
  node.by_key.emplace(key, child);
  return child;
}

void JsonEngine::StartChild(Node& child) {
  if (child.stamp == row_stamp_) [[unlikely]] {
    // The same key twice in one object: the last one wins.
    ++counters_->duplicate_keys;
    ClearRow(child);
  }
  child.stamp = row_stamp_;
}

void JsonEngine::ClearRow(Node& node) {
  if (node.column != nullptr && node.column->HasValue()) node.column->Clear();
  for (const auto& child : node.owned) {
    if (child->stamp != row_stamp_) continue;
    ClearRow(*child);
    child->stamp = row_stamp_ - 1;
  }
}

Column* JsonEngine::ColumnOf(Node& node) {
  if (node.column == nullptr && !node.cut) [[unlikely]] {
    node.column = &node == scalar_.get() ? names_.Scalar(*builder_) : names_.FindOrAdd(*builder_, node.name, node.path);
    node.cut = node.column == nullptr;
  }
  return node.column;
}

bool JsonEngine::ParseValue(JsonCursor& cursor, Node& node, uint32_t level) {
  SkipSpace(cursor);
  switch (*cursor.at) {
    case '"': {
      ++cursor.at;
      RawString text;
      if (!ReadString(cursor, &text)) return false;
      AppendText(node, text);
      return true;
    }
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': {
      JsonNumber number;
      if (!ReadNumber(cursor, &number)) return false;
      AppendNumber(node, number);
      return true;
    }
    case 't':
    case 'f': {
      const bool value = *cursor.at == 't';
      if (!ReadWord(cursor, value ? "true" : "false")) return false;
      if (Column* column = ColumnOf(node); column != nullptr) column->AppendBool(value);
      return true;
    }
    case 'n':
      if (!ReadWord(cursor, "null")) return false;
      if (Column* column = ColumnOf(node); column != nullptr) column->AppendNull();
      return true;
    case '{': return ParseNested(cursor, node, level);
    case '[': return AppendRaw(cursor, node, level);
    default: return cursor.Failed("expected a value");
  }
}

bool JsonEngine::ParseNested(JsonCursor& cursor, Node& node, uint32_t level) {
  JsonCursor look = cursor;
  ++look.at;
  SkipSpace(look);
  const bool flatten = level < options_.max_depth && *look.at != '}' && node.parent != nullptr;
  return flatten ? ParseObject(cursor, node, level + 1) : AppendRaw(cursor, node, level);
}

bool JsonEngine::AppendRaw(JsonCursor& cursor, Node& node, uint32_t level) {
  const char* begin = cursor.at;
  if (!SkipValue(cursor, static_cast<int>(level))) return false;
  if (Column* column = ColumnOf(node); column != nullptr) {
    column->AppendString({begin, static_cast<size_t>(cursor.at - begin)});
  }
  return true;
}

void JsonEngine::AppendText(Node& node, const RawString& text) {
  Column* column = ColumnOf(node);
  if (column == nullptr) return;
  if (!text.escaped) [[likely]] {
    column->AppendString(text.text);
    return;
  }
  char* out = column->BeginString(text.text.size());
  uint64_t replaced = 0;
  const char* end = Unescape(text.text, out, &replaced);
  column->EndString(static_cast<size_t>(end - out));
  if (replaced > 0) ++counters_->replaced_utf8;
}

void JsonEngine::AppendNumber(Node& node, const JsonNumber& number) {
  Column* column = ColumnOf(node);
  if (column == nullptr) return;
  switch (number.kind) {
    case JsonNumber::Kind::kInt64: column->AppendInt64(number.int64); break;
    case JsonNumber::Kind::kUint64: column->AppendUint64(number.uint64); break;
    case JsonNumber::Kind::kFloat64: column->AppendFloat64(number.float64); break;
    case JsonNumber::Kind::kText: column->AppendString(number.text); break;
  }
}

std::vector<std::string> JsonEngine::notes() const {
  if (last_schema_id_ < 0) return {};
  return {"records carry a schema registry prefix (last id " + std::to_string(last_schema_id_) + "): left out"};
}

}  // namespace kafscope
