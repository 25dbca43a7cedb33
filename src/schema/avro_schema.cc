#include "schema/avro_schema.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace kafscope {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 14> kTypeNames = {"null",   "boolean", "int",    "long",   "float",
                                                         "double", "bytes",   "string", "record", "enum",
                                                         "array",  "map",     "union",  "fixed"};

// Index of a primitive type by its name, or −1.
int FindPrimitive(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(AvroType::kString); ++i) {
    if (kTypeNames[static_cast<size_t>(i)] == name) return i;
  }
  return -1;
}

bool IsNamed(AvroType type) { return type == AvroType::kRecord || type == AvroType::kEnum || type == AvroType::kFixed; }

// Letters beyond ASCII are accepted, as Java does.
bool IsName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<uint8_t>(c) >= 0x80;
  };
  if (name.empty() || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool IsFullName(std::string_view name) {
  for (;;) {
    const size_t dot = name.find('.');
    if (!IsName(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

std::string_view NamespaceOf(std::string_view full_name) {
  const size_t dot = full_name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : full_name.substr(0, dot);
}

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// "line 3, column 9: " of the first `"word"` in the text, or nothing.
std::string PlaceOf(std::string_view text, std::string_view word) {
  if (word.empty()) return {};
  const size_t at = text.find('"' + std::string(word) + '"');
  if (at == std::string_view::npos) return {};
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = at - (before.rfind('\n') + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
}

// nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error …" without its number.
std::string PlainJsonError(std::string_view what) {
  const size_t at = what.find("line ");
  return std::string(at == std::string_view::npos ? what : what.substr(at));
}

uint32_t ReadCount(const json& object, const char* key, uint32_t missing) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer()) return missing;
  const auto value = it->get<int64_t>();
  return value < 0 || value > INT32_MAX ? missing : static_cast<uint32_t>(value);
}

}  // namespace

std::string_view AvroTypeName(AvroType type) { return kTypeNames[static_cast<size_t>(type)]; }

// Parses one text after the other into the same nodes and names.
class AvroSchemaParser {
 public:
  AvroSchemaParser() : schema_(new AvroSchema()) {}

  Status ParseText(std::string_view text) {
    if (text.size() > AvroSchema::kMaxTextSize) return Status::InvalidArgument("Avro schema text is larger than 4 MiB");
    json root;
    try {
      root = json::parse(text, nullptr, true, true);
    } catch (const json::exception& e) {
      return Status::InvalidArgument(PlainJsonError(e.what()));
    }
    word_.clear();
    auto parsed = ParseType(root, "", 0);
    if (!parsed) {
      return Status::InvalidArgument(PlaceOf(text, word_) + std::string(parsed.error().message()));
    }
    schema_->root_ = *parsed;
    return Status::Ok();
  }

  std::shared_ptr<const AvroSchema> Finish() {
    FindEmptyTypes();
    return std::move(schema_);
  }

 private:
  // A failure about `word`, whose place in the text is looked up.
  tl::unexpected<Status> Refuse(std::string_view word, std::string message) {
    word_ = word;
    return Fail(Status::InvalidArgument(std::move(message)));
  }

  Result<uint32_t> AddNode(AvroNode node) {
    if (schema_->nodes_.size() >= AvroSchema::kMaxNodes) return Refuse("", "the schema has more than 50000 types");
    schema_->nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(schema_->nodes_.size() - 1);
  }

  Result<uint32_t> ParseType(const json& type, const std::string& space, size_t depth) {
    if (depth > AvroSchema::kMaxDepth) return Refuse("", "types are nested deeper than 200");
    if (type.is_string()) return ParseTypeName(type.get_ref<const std::string&>(), space);
    if (type.is_array()) return ParseUnion(type, space, depth);
    if (!type.is_object()) return Refuse("", "a type must be a name, an object or an array, not " + type.dump());
    const auto inner = type.find("type");
    if (inner == type.end()) return Refuse(AnyKey(type), "an object without \"type\"");
    if (!inner->is_string()) return ParseType(*inner, space, depth + 1);
    const auto& name = inner->get_ref<const std::string&>();
    if (name == "record" || name == "error") return ParseRecord(type, space, depth);
    if (name == "enum") return ParseEnum(type, space);
    if (name == "fixed") return ParseFixed(type, space);
    if (name == "array") return ParseContainer(type, AvroType::kArray, "items", space, depth);
    if (name == "map") return ParseContainer(type, AvroType::kMap, "values", space, depth);
    const int primitive = FindPrimitive(name);
    if (primitive < 0) return ParseTypeName(name, space);
    AvroNode node;
    node.type = static_cast<AvroType>(primitive);
    ReadLogicalType(type, &node);
    return AddNode(std::move(node));
  }

  static std::string AnyKey(const json& object) { return object.empty() ? std::string() : object.begin().key(); }

  Result<uint32_t> ParseTypeName(const std::string& name, const std::string& space) {
    const int primitive = FindPrimitive(name);
    if (primitive >= 0) {
      AvroNode node;
      node.type = static_cast<AvroType>(primitive);
      return AddNode(std::move(node));
    }
    auto it = names_.find(name.find('.') == std::string::npos && !space.empty() ? space + "." + name : name);
    // Some writers leave the namespace out for types that have none.
    if (it == names_.end()) it = names_.find(name);
    if (it != names_.end()) return it->second;
    if (name == "record" || name == "enum" || name == "fixed" || name == "array" || name == "map" || name == "error") {
      return Refuse(name, "type " + Quoted(name) + " needs an object: {\"type\": \"" + name + "\", …}");
    }
    return Refuse(name, "unknown type " + Quoted(name));
  }

  Result<uint32_t> ParseUnion(const json& type, const std::string& space, size_t depth) {
    AvroNode node;
    node.type = AvroType::kUnion;
    std::vector<std::string> seen;
    for (const json& arm : type) {
      KAFSCOPE_ASSIGN_OR_FAIL(const uint32_t branch, ParseType(arm, space, depth + 1));
      const AvroNode& parsed = schema_->nodes_[branch];
      if (parsed.type == AvroType::kUnion) return Refuse("", "a union directly inside a union");
      std::string name = IsNamed(parsed.type) ? parsed.name : std::string(AvroTypeName(parsed.type));
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
        return Refuse(name, "type " + Quoted(name) + " twice in one union");
      }
      seen.push_back(std::move(name));
      node.branches.push_back(branch);
    }
    return AddNode(std::move(node));
  }

  // Gives the node its full name and makes it known, so that its own fields can use it. `*space` becomes its namespace.
  Result<uint32_t> AddNamed(const json& type, AvroNode node, std::string* space) {
    const auto name = type.find("name");
    if (name == type.end() || !name->is_string()) {
      return Refuse(AnyKey(type), std::string(AvroTypeName(node.type)) + " without a \"name\"");
    }
    node.name = name->get<std::string>();
    if (node.name.find('.') == std::string::npos) {
      const auto own = type.find("namespace");
      if (own != type.end() && own->is_string()) *space = own->get<std::string>();
      if (!space->empty()) node.name = *space + "." + node.name;
    }
    const std::string& short_name = name->get_ref<const std::string&>();
    if (!IsFullName(node.name)) return Refuse(short_name, "invalid name " + Quoted(node.name));
    if (FindPrimitive(node.name) >= 0)
      return Refuse(short_name, Quoted(node.name) + " is the name of a primitive type");
    if (names_.contains(node.name)) return Refuse(short_name, "type " + Quoted(node.name) + " is defined twice");
    *space = NamespaceOf(node.name);
    std::string full_name = node.name;
    KAFSCOPE_ASSIGN_OR_FAIL(const uint32_t index, AddNode(std::move(node)));
    names_.emplace(std::move(full_name), index);
    return index;
  }

  Result<uint32_t> ParseRecord(const json& type, std::string space, size_t depth) {
    AvroNode node;
    node.type = AvroType::kRecord;
    KAFSCOPE_ASSIGN_OR_FAIL(const uint32_t index, AddNamed(type, std::move(node), &space));
    const std::string record = schema_->nodes_[index].name;
    const auto fields = type.find("fields");
    if (fields == type.end() || !fields->is_array()) {
      return Refuse(type.at("name").get<std::string>(), "record " + Quoted(record) + " without an array \"fields\"");
    }
    std::vector<AvroNode::Field> parsed;
    std::unordered_set<std::string_view> seen;
    for (const json& field : *fields) {
      const auto name = field.is_object() ? field.find("name") : field.end();
      if (!field.is_object() || name == field.end() || !name->is_string()) {
        return Refuse("fields", "a field of record " + Quoted(record) + " has no \"name\"");
      }
      const auto& text = name->get_ref<const std::string&>();
      if (!IsName(text)) return Refuse(text, "invalid field name " + Quoted(text) + " in record " + Quoted(record));
      if (!seen.insert(text).second)
        return Refuse(text, "field " + Quoted(text) + " is defined twice in record " + Quoted(record));
      const auto field_type = field.find("type");
      if (field_type == field.end()) {
        return Refuse(text, "field " + Quoted(text) + " of record " + Quoted(record) + " has no \"type\"");
      }
      auto inner = ParseType(*field_type, space, depth + 1);
      if (!inner) return Fail(inner.error().WithContext("field " + Quoted(text) + " of record " + Quoted(record)));
      parsed.push_back({text, *inner});
    }
    schema_->nodes_[index].fields = std::move(parsed);
    return index;
  }

  Result<uint32_t> ParseEnum(const json& type, std::string space) {
    AvroNode node;
    node.type = AvroType::kEnum;
    KAFSCOPE_ASSIGN_OR_FAIL(const uint32_t index, AddNamed(type, std::move(node), &space));
    AvroNode& parsed = schema_->nodes_[index];
    const auto symbols = type.find("symbols");
    if (symbols == type.end() || !symbols->is_array()) {
      return Refuse(type.at("name").get<std::string>(),
                    "enum " + Quoted(parsed.name) + " without an array \"symbols\"");
    }
    std::unordered_set<std::string_view> seen;
    for (const json& symbol : *symbols) {
      if (!symbol.is_string() || !IsName(symbol.get_ref<const std::string&>())) {
        return Refuse("symbols", "invalid symbol " + symbol.dump() + " in enum " + Quoted(parsed.name));
      }
      const auto& text = symbol.get_ref<const std::string&>();
      if (!seen.insert(text).second) {
        return Refuse(text, "symbol " + Quoted(text) + " twice in enum " + Quoted(parsed.name));
      }
      parsed.symbols.push_back(text);
    }
    return index;
  }

  Result<uint32_t> ParseFixed(const json& type, std::string space) {
    AvroNode node;
    node.type = AvroType::kFixed;
    KAFSCOPE_ASSIGN_OR_FAIL(const uint32_t index, AddNamed(type, std::move(node), &space));
    AvroNode& parsed = schema_->nodes_[index];
    parsed.size = ReadCount(type, "size", UINT32_MAX);
    if (parsed.size == UINT32_MAX) {
      return Refuse(type.at("name").get<std::string>(),
                    "fixed " + Quoted(parsed.name) + " needs a \"size\" of 0 or more");
    }
    ReadLogicalType(type, &parsed);
    return index;
  }

  Result<uint32_t> ParseContainer(const json& type, AvroType kind, const char* key, const std::string& space,
                                  size_t depth) {
    const auto items = type.find(key);
    if (items == type.end()) {
      return Refuse("type", std::string(AvroTypeName(kind)) + " without \"" + key + "\"");
    }
    AvroNode node;
    node.type = kind;
    KAFSCOPE_ASSIGN_OR_FAIL(const uint32_t inner, ParseType(*items, space, depth + 1));
    node.branches.push_back(inner);
    return AddNode(std::move(node));
  }

  static void ReadLogicalType(const json& type, AvroNode* node) {
    const auto logical = type.find("logicalType");
    if (logical == type.end() || !logical->is_string()) return;
    struct Known {
      std::string_view name;
      AvroType base;
      AvroLogicalType logical;
      uint32_t fixed_size;  // 0: any
    };
    static constexpr Known kKnown[] = {
        {"decimal", AvroType::kBytes, AvroLogicalType::kDecimal, 0},
        {"decimal", AvroType::kFixed, AvroLogicalType::kDecimal, 0},
        {"uuid", AvroType::kString, AvroLogicalType::kUuid, 0},
        {"uuid", AvroType::kFixed, AvroLogicalType::kUuid, 16},
        {"date", AvroType::kInt, AvroLogicalType::kDate, 0},
        {"time-millis", AvroType::kInt, AvroLogicalType::kTimeMillis, 0},
        {"time-micros", AvroType::kLong, AvroLogicalType::kTimeMicros, 0},
        {"timestamp-millis", AvroType::kLong, AvroLogicalType::kTimestampMillis, 0},
        {"timestamp-micros", AvroType::kLong, AvroLogicalType::kTimestampMicros, 0},
        {"timestamp-nanos", AvroType::kLong, AvroLogicalType::kTimestampNanos, 0},
        {"local-timestamp-millis", AvroType::kLong, AvroLogicalType::kTimestampMillis, 0},
        {"local-timestamp-micros", AvroType::kLong, AvroLogicalType::kTimestampMicros, 0},
        {"local-timestamp-nanos", AvroType::kLong, AvroLogicalType::kTimestampNanos, 0},
        {"duration", AvroType::kFixed, AvroLogicalType::kDuration, 12},
    };
    const auto& name = logical->get_ref<const std::string&>();
    for (const Known& known : kKnown) {
      if (known.name != name || known.base != node->type) continue;
      if (known.fixed_size != 0 && known.fixed_size != node->size) return;
      if (known.logical == AvroLogicalType::kDecimal) {
        node->precision = ReadCount(type, "precision", 0);
        node->scale = ReadCount(type, "scale", 0);
        if (node->precision == 0 || node->scale > node->precision || node->precision > 1000) return;
      }
      node->logical = known.logical;
      return;
    }
  }

  // A type that may take no byte: null, fixed of size 0, a record of nothing else. Grows to a fixed point.
  void FindEmptyTypes() {
    auto& nodes = schema_->nodes_;
    for (bool changed = true; changed;) {
      changed = false;
      for (AvroNode& node : nodes) {
        if (node.can_be_empty) continue;
        const auto empty = [&](const AvroNode::Field& f) { return nodes[f.node].can_be_empty; };
        node.can_be_empty =
            node.type == AvroType::kNull || (node.type == AvroType::kFixed && node.size == 0) ||
            (node.type == AvroType::kRecord && std::all_of(node.fields.begin(), node.fields.end(), empty));
        changed |= node.can_be_empty;
      }
    }
  }

  std::shared_ptr<AvroSchema> schema_;
  std::unordered_map<std::string, uint32_t> names_;  // full name → definition
  std::string word_;                                 // what a failure is about
};

Result<std::shared_ptr<const AvroSchema>> AvroSchema::Parse(std::string_view text,
                                                            std::span<const std::string_view> references) {
  AvroSchemaParser parser;
  for (std::string_view reference : references) {
    if (Status status = parser.ParseText(reference); !status.ok()) return Fail(status.WithContext("in a reference"));
  }
  KAFSCOPE_FAIL_IF_ERROR(parser.ParseText(text));
  return parser.Finish();
}

namespace {

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  *out += text;
  *out += '"';
}

// Writes a type the first time it is met, its name afterwards.
void AppendCanonical(const AvroSchema& schema, uint32_t index, std::vector<bool>* written, std::string* out) {
  const AvroNode& node = schema.node(index);
  if (IsNamed(node.type)) {
    if ((*written)[index]) return AppendQuoted(node.name, out);
    (*written)[index] = true;
    *out += "{\"name\":";
    AppendQuoted(node.name, out);
    *out += ",\"type\":";
    AppendQuoted(AvroTypeName(node.type), out);
  }
  const char* separator = "";
  switch (node.type) {
    case AvroType::kRecord:
      *out += ",\"fields\":[";
      for (const auto& field : node.fields) {
        *out += std::exchange(separator, ",");
        *out += "{\"name\":";
        AppendQuoted(field.name, out);
        *out += ",\"type\":";
        AppendCanonical(schema, field.node, written, out);
        *out += '}';
      }
      *out += "]}";
      break;
    case AvroType::kEnum:
      *out += ",\"symbols\":[";
      for (const auto& symbol : node.symbols) {
        *out += std::exchange(separator, ",");
        AppendQuoted(symbol, out);
      }
      *out += "]}";
      break;
    case AvroType::kFixed: *out += ",\"size\":" + std::to_string(node.size) + "}"; break;
    case AvroType::kArray:
    case AvroType::kMap:
      *out += node.type == AvroType::kArray ? "{\"type\":\"array\",\"items\":" : "{\"type\":\"map\",\"values\":";
      AppendCanonical(schema, node.branches[0], written, out);
      *out += '}';
      break;
    case AvroType::kUnion:
      *out += '[';
      for (uint32_t branch : node.branches) {
        *out += std::exchange(separator, ",");
        AppendCanonical(schema, branch, written, out);
      }
      *out += ']';
      break;
    default: AppendQuoted(AvroTypeName(node.type), out);
  }
}

constexpr uint64_t kEmptyFingerprint = 0xc15d213aa4d7a795;

constexpr auto MakeFingerprintTable() {
  std::array<uint64_t, 256> table{};
  for (uint64_t i = 0; i < table.size(); ++i) {
    uint64_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (kEmptyFingerprint & (0 - (value & 1)));
    table[i] = value;
  }
  return table;
}
constexpr auto kFingerprintTable = MakeFingerprintTable();

}  // namespace

std::string AvroSchema::CanonicalForm() const {
  std::string out;
  std::vector<bool> written(nodes_.size());
  AppendCanonical(*this, root_, &written, &out);
  return out;
}

uint64_t AvroSchema::Fingerprint() const { return Crc64Avro(CanonicalForm()); }

uint64_t Crc64Avro(std::string_view bytes) {
  uint64_t value = kEmptyFingerprint;
  for (char c : bytes) value = value >> 8 ^ kFingerprintTable[(value ^ static_cast<uint8_t>(c)) & 0xff];
  return value;
}

}  // namespace kafscope
