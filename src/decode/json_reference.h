// The slow, obvious flattener that JsonEngine is compared with (tests and fuzzing): a whole document parsed by another
// library, then walked by the rules of docs/values.md.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kafscope {

struct JsonReference {
  std::map<std::string, nlohmann::ordered_json> columns;  // by name; nulls left out
  bool repeated_keys = false;  // some object had a key twice: names with `#` may differ, values do not
};

// Nothing: the other library refuses `text`.
std::optional<JsonReference> FlattenSlowly(std::string_view text, uint32_t max_depth);
// What the other library refuses and we take, by rule: numbers beyond double, lone surrogates.
bool MayBeTakenAnyway(std::string_view text);
// Whether our text of a value means the reference's value.
bool MeansTheSame(const nlohmann::ordered_json& expected, const std::string& actual);

}  // namespace kafscope
