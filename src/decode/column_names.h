// ColumnNames: free names for value, key and header columns, by the rules of docs/values.md.
//
// Use: an engine asks for the name of a path once, when it adds the path to its plan. The same path gets the same name
// for the life of the stream; a second path of the same name gets `#2`, `#3`, ….
// Cost: allocates; for building plans. Threads: the consume thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "frame/frame_builder.h"

namespace kafscope {

// Names for the columns of an engine: values (prefix "", role kValue) or a key ("key.", role kKey).
struct ValueScope {
  std::string_view prefix;  // "" or "key."
  std::string_view scalar;  // name of a lone value: "value", "message", "key"
  FieldRole role = FieldRole::kValue;

  static ValueScope Value() { return {"", "value", FieldRole::kValue}; }
  static ValueScope Key() { return {"key.", "key", FieldRole::kKey}; }
};

class ColumnNames {
 public:
  explicit ColumnNames(ValueScope scope) : scope_(scope) {}

  const ValueScope& scope() const { return scope_; }
  // The column of `path`, which tells apart what `name` cannot: {"a.b":1} and {"a":{"b":1}} have different paths.
  // Null beyond the field cap. The path of a literal top-level key is the key itself with `literal` true.
  Column* FindOrAdd(FrameBuilder& builder, std::string_view name, std::string_view path);
  // The column of a lone value.
  Column* Scalar(FrameBuilder& builder);
  // `name` as this scope spells it, before any `#2`.
  std::string Spell(std::string_view name) const;

 private:
  ValueScope scope_;
  std::unordered_map<std::string, std::string> name_of_path_;
  std::unordered_map<std::string, std::string> path_of_name_;
};

// Metadata columns keep their names: time, partition, offset, key, headers, error.
bool IsMetadataName(std::string_view name);
// Joins a path's parts: "a" + "b" → "a.b"; an empty key is `_empty`.
void AppendNamePart(std::string_view part, std::string* name);

}  // namespace kafscope
