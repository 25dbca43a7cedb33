#include "decode/json_reference.h"

#include <cstdlib>
#include <set>
#include <vector>

#include "decode/column_names.h"

namespace kafscope {

namespace {

using Json = nlohmann::ordered_json;

class Flattener {
 public:
  Flattener(uint32_t max_depth, JsonReference* out) : max_depth_(max_depth), out_(out) {}

  void Walk(const Json& value, const std::string& name, uint32_t level) {
    if (value.is_object() && !value.empty() && level < max_depth_) {
      for (const auto& [key, child] : value.items()) {
        std::string part = name;
        AppendNamePart(key, &part);
        Walk(child, part, level + 1);
      }
      return;
    }
    // Every path has a name of its own, nulls included.
    std::string free = scope_.Spell(name);
    for (int n = 2; !names_.insert(free).second; ++n) free = scope_.Spell(name) + "#" + std::to_string(n);
    if (!value.is_null()) out_->columns[free] = value;
  }

 private:
  uint32_t max_depth_;
  ColumnNames scope_{ValueScope::Value()};
  std::set<std::string> names_;
  JsonReference* out_;
};

// Sees the keys of a document one by one, so that a repeated one shows.
class RepeatFinder final : public nlohmann::json_sax<Json> {
 public:
  bool repeated() const { return repeated_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    open_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    repeated_ |= !open_.back().insert(name).second;
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::vector<std::set<std::string>> open_;
  bool repeated_ = false;
};

}  // namespace

std::optional<JsonReference> FlattenSlowly(std::string_view text, uint32_t max_depth) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;  // the library would take it for the end
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  JsonReference reference;
  RepeatFinder finder;
  Json::sax_parse(text, &finder);
  reference.repeated_keys = finder.repeated();
  Flattener flattener(max_depth, &reference);
  if (document.is_object() && !document.empty()) {
    flattener.Walk(document, "", 0);
  } else if (document.is_array() && !document.empty()) {
    for (size_t i = 0; i < document.size(); ++i) flattener.Walk(document[i], "item_" + std::to_string(i), 1);
  } else if (!document.is_null()) {
    reference.columns["value"] = document;
  }
  return reference;
}

bool MayBeTakenAnyway(std::string_view text) {
  for (size_t i = 0; i + 3 < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\\u") && (rest[2] == 'd' || rest[2] == 'D')) return true;
  }
  // A number is beyond double by a large exponent, or by some three hundred digits.
  size_t digits = 0;
  bool exponent = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    digits = digit ? digits + 1 : 0;
    if (digits >= 300 || (exponent && digits >= 1)) return true;
    if (!digit && c != '+') exponent = c == 'e' || c == 'E';
  }
  return false;
}

bool MeansTheSame(const Json& expected, const std::string& actual) {
  if (expected.is_string()) return expected.get<std::string>() == actual;
  if (expected.is_structured()) return Json::parse(actual, nullptr, false) == expected;
  if (expected.is_number_float()) return std::strtod(actual.c_str(), nullptr) == expected.get<double>();
  return expected.dump() == actual;
}

}  // namespace kafscope
