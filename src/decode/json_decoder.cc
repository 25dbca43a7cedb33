#include "decode/json_decoder.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "base/perf_switches.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

// Paths that a plan may hold; beyond it a value still gets its column, by its name each time.
constexpr size_t kMaxNodes = 65'536;
constexpr size_t kRegistryPrefix = 5;
// Children that a miss looks through in their last-seen order before it asks the table.
constexpr uint32_t kNearChildren = 3;
constexpr ptrdiff_t kExactDigits = 18;  // of an integer that surely fits int64

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

inline const char* SkipSpace(const char* at) {
  JsonCursor cursor{at, {}};
  kafscope::SkipSpace(cursor);
  return cursor.at;
}

inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Copies `size` bytes; false if one of them is not ASCII.
bool CopyAscii(const char* from, size_t size, char* to) {
  if (size < sizeof(__m128i)) {
    char seen = 0;
    for (size_t i = 0; i < size; ++i) {
      to[i] = from[i];
      seen = static_cast<char>(seen | from[i]);
    }
    return (seen & 0x80) == 0;
  }
  __m128i seen = _mm_setzero_si128();
  const auto copy = [&](size_t i) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    seen = _mm_or_si128(seen, chunk);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), chunk);
  };
  for (size_t i = 0; i + sizeof(__m128i) <= size; i += sizeof(__m128i)) copy(i);
  copy(size - sizeof(__m128i));  // the rest, partly again
  return _mm_movemask_epi8(seen) == 0;
}

}  // namespace

// A key of an object as it stands in the text, with its closing quote and colon, and what a value of it needs. PERF:
// all of that lies in one cache line, in the order in which the keys come; only objects, misses and first times need
// more.
struct alignas(64) JsonEngine::Child {
  static constexpr uint32_t kInline = 32;

  char key[kInline] = {};    // the first bytes
  Column* column = nullptr;  // null: not looked for yet, or beyond the field cap
  Node* node = nullptr;
  uint32_t size = 0;   // of the whole key
  uint32_t mask = 0;   // a bit for each byte of `key` in use
  uint32_t stamp = 0;  // the row in which it was last seen
  bool cut = false;    // beyond the field cap

  // REQUIRES: kInline readable bytes at `at`.
  inline bool Matches(const char* at, const char* end) const;
};

// The part of a path that is seldom needed, and the children of an object.
struct JsonEngine::Node {
  std::vector<Child> order;  // as last seen
  std::string raw_key;       // as Child::key, whole
  std::string name;          // of its column, before a clash is resolved
  std::string path;          // tells apart what the name cannot
  bool in_plan = true;       // false: stands for a path beyond kMaxNodes
  std::vector<std::unique_ptr<Node>> owned;
  std::unordered_map<std::string, uint32_t, StringHash, std::equal_to<>> by_raw_key;  // other spellings included
  std::unordered_map<std::string, uint32_t, StringHash, std::equal_to<>> by_key;      // places in `order`

  // Places in `order` by a quick hash of the raw key, at most half full; kNoPlace: free. PERF: for keys in any order.
  std::vector<uint32_t> table;
  Child* FindInTable(const char* at, const char* end);
  void AddToTable(uint32_t place);
};

inline bool JsonEngine::Child::Matches(const char* at, const char* end) const {
  const auto* text = reinterpret_cast<const __m128i*>(at);
  const auto* own = reinterpret_cast<const __m128i*>(key);
  const auto first =
      static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(text), _mm_load_si128(own))));
  if (mask <= 0xffff) [[likely]]
    return (first & mask) == mask;
  const auto second =
      static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(text + 1), _mm_load_si128(own + 1))));
  if (((second << 16 | first) & mask) != mask) return false;
  return size <= kInline || (static_cast<size_t>(end - at) >= size && std::memcmp(at, node->raw_key.data(), size) == 0);
}

namespace {

constexpr uint32_t kNoPlace = ~uint32_t{0};
constexpr uint32_t kMaxProbes = 8;  // beyond it the maps are asked: hostile keys cost no more than that

uint64_t LoadWord(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Of a raw key by its ends. REQUIRES: eight readable bytes at `at`.
size_t QuickHash(const char* at, size_t size) {
  constexpr size_t kWord = sizeof(uint64_t);
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  // A product's low bits know nothing of its factor's high ones, hence the folding.
  const auto mix = [](uint64_t value) {
    value = (value ^ value >> 32) * kOdd;
    return value ^ value >> 32;
  };
  const uint64_t first = LoadWord(at);
  if (size < kWord) return static_cast<size_t>(mix((first & ((uint64_t{1} << 8 * size) - 1)) + size));
  return static_cast<size_t>(mix(mix(first) + LoadWord(at + size - kWord) + size));
}

}  // namespace

JsonEngine::Child* JsonEngine::Node::FindInTable(const char* at, const char* end) {
  const auto size = static_cast<size_t>(FindStringStop(at) - at);
  size_t slot = QuickHash(at, size);
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe, ++slot) {
    const uint32_t place = table[slot & (table.size() - 1)];
    if (place == kNoPlace) return nullptr;
    if (order[place].Matches(at, end)) return &order[place];
  }
  return nullptr;
}

void JsonEngine::Node::AddToTable(uint32_t place) {
  const auto add = [this](uint32_t added) {
    std::string key = order[added].node->raw_key;
    const size_t size = key.find('"');
    key.resize(key.size() + sizeof(uint64_t));
    size_t slot = QuickHash(key.data(), size);
    for (uint32_t probe = 0; probe < kMaxProbes; ++probe, ++slot) {
      uint32_t& entry = table[slot & (table.size() - 1)];
      if (entry != kNoPlace) continue;
      entry = added;
      return;
    }
  };
  if (2 * order.size() <= table.size()) return add(place);
  table.assign(std::max<size_t>(16, 2 * table.size()), kNoPlace);
  for (uint32_t each = 0; each < order.size(); ++each) add(each);
}

// A path of which no object knows: the top itself.
struct JsonEngine::Top {
  Node node;
  Child child;
};

JsonEngine::JsonEngine(const DecodeOptions& options, ValueScope scope)
    : options_(options),
      names_(scope),
      predict_keys_(!PerfDisabled(PerfSwitch::kKeyPrediction)),
      root_(std::make_unique<Node>()),
      top_array_(std::make_unique<Node>()),
      scalar_(std::make_unique<Top>()),
      overflow_(std::make_unique<Top>()) {
  scalar_->child.node = &scalar_->node;
}

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
  ForgetColumns(scalar_->child);
}

void JsonEngine::ForgetColumns(Child& child) {
  child.column = nullptr;
  child.cut = false;
  ForgetColumns(*child.node);
}

void JsonEngine::ForgetColumns(Node& node) {
  for (Child& child : node.order) ForgetColumns(child);
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
    ClearRow(*root_);
    ClearRow(*top_array_);
    ClearRow(scalar_->child);
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

// The payload with zero bytes behind it: no read of the parser needs a bounds check. False: not UTF-8.
bool JsonEngine::TakeText(std::string_view payload) {
  if (text_.size() < payload.size() + kJsonPadding) text_.resize(2 * payload.size() + kJsonPadding);
  const bool ascii = CopyAscii(payload.data(), payload.size(), text_.data());
  std::memset(text_.data() + payload.size(), 0, kJsonPadding);
  text_end_ = text_.data() + payload.size() + kJsonPadding;
  return ascii || IsValidUtf8(payload);
}

DecodeError JsonEngine::Parse(std::string_view payload) {
  size_t stripped = 0;
  payload = StripPrefix(payload, &stripped);
  if (payload.empty()) return {ErrorReason::kEmptyValue, 0, "an empty value is no JSON text"};
  if (!TakeText(payload)) [[unlikely]] {
    return {ErrorReason::kInvalidUtf8, stripped + ValidUtf8Prefix(payload), "not UTF-8"};
  }
  ++row_stamp_;
  if (const char* end = ParseTop(text_.data()); end != nullptr) [[likely]] {
    end = SkipSpace(end);
    if (end == text_.data() + payload.size()) [[likely]]
      return {};
    Fault(end, "text after the JSON value");
  }
  const auto position = static_cast<size_t>(fault_at_ - text_.data());
  if (position == payload.size()) fault_ = "the text ends before the value does";
  return {ErrorReason::kInvalidJson, stripped + position, fault_};
}

const char* JsonEngine::Fault(const char* at, std::string_view text) {
  fault_at_ = at;
  fault_ = text;
  return nullptr;
}

const char* JsonEngine::ParseTop(const char* at) {
  at = SkipSpace(at);
  if (*at == '{' || *at == '[') [[likely]] {
    const char* first = SkipSpace(at + 1);
    if (*at == '{' && *first != '}') [[likely]]
      return ParseObject(first, *root_, 1);
    if (*at == '[' && *first != ']') return ParseTopArray(first);
  }
  // A lone scalar, {} or []: the column of a lone value.
  scalar_->child.stamp = row_stamp_;
  return ParseValue(at, scalar_->child, options_.max_depth);
}

const char* JsonEngine::ParseTopArray(const char* at) {
  for (size_t index = 0;; ++index) {
    Child* child = nullptr;
    if (index < top_array_->order.size()) {
      child = &top_array_->order[index];
    } else {
      const std::string name = "item_" + std::to_string(index);
      child = AddChild(*top_array_, name, name);
    }
    child->stamp = row_stamp_;
    at = ParseValue(SkipSpace(at), *child, 1);
    if (at == nullptr) return nullptr;
    at = SkipSpace(at);
    if (*at == ']') return at + 1;
    if (*at != ',') return Fault(at, "expected ',' or ']'");
    ++at;
  }
}

// `at` stands at the first key's quote (or what is there in its place).
const char* JsonEngine::ParseObject(const char* at, Node& node, uint32_t level) {
  const uint32_t stamp = row_stamp_;
  // The child expected next; next == end: none is.
  Child* next = node.order.data();
  Child* end = predict_keys_ ? next + node.order.size() : next;
  for (;;) {
    if (*at != '"') [[unlikely]]
      return Fault(at, "expected a key in quotes");
    ++at;
    Child* child = next;
    if (next != end && next->Matches(at, text_end_)) [[likely]] {
      at += next->size;
      ++next;
    } else {
      const auto place = next - node.order.data();
      at = SearchKey(at, node, next, &child);
      if (at == nullptr) [[unlikely]]
        return nullptr;
      Child* begin = node.order.data();
      end = predict_keys_ ? begin + node.order.size() : begin;
      next = !predict_keys_ ? begin : child->node->in_plan ? child + 1 : begin + place;
    }
    if (child->stamp == stamp) [[unlikely]]
      RepeatedKey(*child);
    child->stamp = stamp;
    at = ParseValue(SkipSpace(at), *child, level);
    if (at == nullptr) [[unlikely]]
      return nullptr;
    at = SkipSpace(at);
    if (*at != ',') {
      if (*at == '}') return at + 1;
      return Fault(at, "expected ',' or '}'");
    }
    at = SkipSpace(at + 1);
  }
}

// A key that was not the one expected: a few of those that come next in the last-seen order, then a small table, then
// the maps that know every spelling. `at` stands after the key's quote; gives the position after the colon.
const char* JsonEngine::SearchKey(const char* at, Node& node, const Child* next, Child** child) {
  if (predict_keys_ && !node.order.empty()) {
    const auto count = static_cast<uint32_t>(node.order.size());
    auto place = static_cast<uint32_t>(next - node.order.data());
    for (uint32_t tried = 0; tried < std::min(count, kNearChildren); ++tried) {
      if (++place >= count) place = 0;
      if (!node.order[place].Matches(at, text_end_)) continue;
      *child = &node.order[place];
      return at + (*child)->size;
    }
    *child = node.FindInTable(at, text_end_);
    if (*child != nullptr) return at + (*child)->size;
  }
  JsonCursor cursor{at, {}};
  RawString key;
  if (!ReadString(cursor, &key)) return Fault(cursor);
  *child = FindOrAddChild(node, key);
  at = SkipSpace(cursor.at);
  return *at == ':' ? at + 1 : Fault(at, "expected ':'");
}

JsonEngine::Child* JsonEngine::FindOrAddChild(Node& node, const RawString& key) {
  const auto found = node.by_raw_key.find(key.text);
  if (found != node.by_raw_key.end()) return &node.order[found->second];
  if (!key.escaped) return AddChild(node, key.text, key.text);
  std::string plain(key.text.size(), '\0');
  plain.resize(static_cast<size_t>(Unescape(key.text, plain.data(), &counters_->replaced_utf8) - plain.data()));
  return AddChild(node, key.text, plain);
}

JsonEngine::Child* JsonEngine::AddChild(Node& node, std::string_view raw_key, std::string_view key) {
  // Another spelling of a known key: "a" and "\u0061".
  if (const auto known = node.by_key.find(key); known != node.by_key.end()) {
    if (node.by_raw_key.size() < kMaxNodes) node.by_raw_key.emplace(raw_key, known->second);
    return &node.order[known->second];
  }
  auto fresh = std::make_unique<Node>();
  fresh->name = node.name;
  AppendNamePart(key, &fresh->name);
  fresh->path = node.path;
  fresh->path.append(std::to_string(key.size())).append(":").append(key);  // no key looks like a path
  if (nodes_ >= kMaxNodes) {
    fresh->in_plan = false;
    overflow_->node = std::move(*fresh);
    overflow_->child = Child{};
    overflow_->child.node = &overflow_->node;
    return &overflow_->child;
  }
  ++nodes_;
  fresh->raw_key.assign(raw_key).append("\":");
  Child child;
  child.size = static_cast<uint32_t>(fresh->raw_key.size());
  child.mask = child.size >= Child::kInline ? ~uint32_t{0} : (uint32_t{1} << child.size) - 1;
  child.node = fresh.get();
  std::memcpy(child.key, fresh->raw_key.data(), std::min(child.size, Child::kInline));
  const auto place = static_cast<uint32_t>(node.order.size());
  node.by_raw_key.emplace(raw_key, place);
  node.by_key.emplace(key, place);
  node.owned.push_back(std::move(fresh));
  node.order.push_back(child);
  node.AddToTable(place);
  return &node.order.back();
}

// The same key twice in one object: the last one wins.
void JsonEngine::RepeatedKey(Child& child) {
  ++counters_->duplicate_keys;
  ClearRow(child);
}

void JsonEngine::ClearRow(Child& child) {
  if (child.column != nullptr && child.column->HasValue()) child.column->Clear();
  ClearRow(*child.node);
}

void JsonEngine::ClearRow(Node& node) {
  for (Child& child : node.order) {
    if (child.stamp != row_stamp_) continue;
    ClearRow(child);
    child.stamp = row_stamp_ - 1;
  }
}

void JsonEngine::AddColumn(Child& child) {
  if (child.cut) return;
  child.column = &child == &scalar_->child ? names_.Scalar(*builder_)
                                           : names_.FindOrAdd(*builder_, child.node->name, child.node->path);
  child.cut = child.column == nullptr;
}

inline const char* JsonEngine::ParseValue(const char* at, Child& child, uint32_t level) {
  // Containers below are flattened into other columns; all else needs this one.
  if (child.column == nullptr && *at != '{') [[unlikely]]
    AddColumn(child);
  if (*at == '"') {
    const char* begin = at + 1;
    const char* stop = FindStringStop(begin);
    if (*stop != '"') [[unlikely]]
      return ParseEscapedString(begin, stop, child);
    if (child.column != nullptr) [[likely]]
      child.column->AppendStringPadded(begin, static_cast<size_t>(stop - begin));
    return stop + 1;
  }
  if (IsDigit(*at) || *at == '-') return ParseNumber(at, child);
  if (*at == '{') return ParseNested(at, child, level);
  if (*at == '[') return AppendRaw(at, child, level);
  return ParseWord(at, child);
}

inline const char* JsonEngine::ParseNumber(const char* at, Child& child) {
  // PERF: short numbers whose value is exact at once; all others, and all faults, go the general way.
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  constexpr uint64_t kExactMantissa = uint64_t{1} << 53;
  const char* begin = at;
  const bool negative = *at == '-';
  at += negative ? 1 : 0;
  const char* digits = at;
  uint64_t value = 0;
  for (; IsDigit(*at); ++at) value = value * 10 + static_cast<uint64_t>(*at - '0');
  const ptrdiff_t count = at - digits;
  if (count == 0 || count > kExactDigits || (*digits == '0' && count > 1)) [[unlikely]] {
    return ParseLongNumber(begin, child);
  }
  if (*at != '.') {
    if ((*at | 0x20) == 'e') [[unlikely]]
      return ParseLongNumber(begin, child);
    if (child.column != nullptr) [[likely]] {
      child.column->AppendInt64(negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value));
    }
    return at;
  }
  const char* fraction = ++at;
  for (; IsDigit(*at); ++at) value = value * 10 + static_cast<uint64_t>(*at - '0');
  const ptrdiff_t places = at - fraction;
  if (places == 0 || count + places > kExactDigits || value > kExactMantissa || (*at | 0x20) == 'e') [[unlikely]] {
    return ParseLongNumber(begin, child);
  }
  const double magnitude = static_cast<double>(value) / kPowers[places];
  if (child.column != nullptr) [[likely]]
    child.column->AppendFloat64(negative ? -magnitude : magnitude);
  return at;
}

const char* JsonEngine::ParseLongNumber(const char* at, Child& child) {
  JsonCursor cursor{at, {}};
  JsonNumber number;
  if (!ReadNumber(cursor, &number)) return Fault(cursor);
  if (child.column == nullptr) return cursor.at;
  switch (number.kind) {
    case JsonNumber::Kind::kInt64: child.column->AppendInt64(number.int64); break;
    case JsonNumber::Kind::kUint64: child.column->AppendUint64(number.uint64); break;
    case JsonNumber::Kind::kFloat64: child.column->AppendFloat64(number.float64); break;
    case JsonNumber::Kind::kText: child.column->AppendString(number.text); break;
  }
  return cursor.at;
}

const char* JsonEngine::ParseEscapedString(const char* begin, const char* stop, Child& child) {
  JsonCursor cursor{stop, {}};
  RawString text;
  if (!ReadEscapedString(cursor, begin, &text)) return Fault(cursor);
  if (child.column == nullptr) return cursor.at;
  char* out = child.column->BeginString(text.text.size());
  uint64_t replaced = 0;
  const char* end = Unescape(text.text, out, &replaced);
  child.column->EndString(static_cast<size_t>(end - out));
  if (replaced > 0) ++counters_->replaced_utf8;
  return cursor.at;
}

const char* JsonEngine::ParseWord(const char* at, Child& child) {
  // PERF: compares of four bytes at a fixed place are one instruction.
  const auto is = [](const char* text, const char* word) { return std::memcmp(text, word, 4) == 0; };
  if (is(at, "true")) {
    if (child.column != nullptr) child.column->AppendBool(true);
    return at + 4;
  }
  if (is(at, "fals") && at[4] == 'e') {
    if (child.column != nullptr) child.column->AppendBool(false);
    return at + 5;
  }
  if (is(at, "null")) {
    if (child.column != nullptr) child.column->AppendNull();
    return at + 4;
  }
  const bool word = *at == 't' || *at == 'f' || *at == 'n';
  return Fault(at, word ? "expected true, false or null" : "expected a value");
}

const char* JsonEngine::ParseNested(const char* at, Child& child, uint32_t level) {
  const char* first = SkipSpace(at + 1);
  const bool flatten = level < options_.max_depth && *first != '}' && child.node->in_plan;
  if (flatten) return ParseObject(first, *child.node, level + 1);
  if (child.column == nullptr) AddColumn(child);
  return AppendRaw(at, child, level);
}

// The value's own text, checked.
const char* JsonEngine::AppendRaw(const char* at, Child& child, uint32_t level) {
  JsonCursor cursor{at, {}};
  if (!SkipValue(cursor, static_cast<int>(level))) return Fault(cursor);
  if (child.column != nullptr) child.column->AppendString({at, static_cast<size_t>(cursor.at - at)});
  return cursor.at;
}

std::vector<std::string> JsonEngine::notes() const {
  if (last_schema_id_ < 0) return {};
  return {"records carry a schema registry prefix (last id " + std::to_string(last_schema_id_) + "): left out"};
}

}  // namespace kafscope
