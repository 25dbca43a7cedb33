#include "decode/column_names.h"

namespace kafscope {

bool IsMetadataName(std::string_view name) {
  return name == "time" || name == "partition" || name == "offset" || name == "key" || name == "headers" ||
         name == "error";
}

void AppendNamePart(std::string_view part, std::string* name) {
  if (!name->empty()) name->push_back('.');
  name->append(part.empty() ? std::string_view("_empty") : part);
}

std::string ColumnNames::Spell(std::string_view name) const {
  std::string spelled(scope_.prefix);
  // A field `key.a` of the value must not take the place of the key's field `a`, nor `header.a` that of a header.
  const bool taken = scope_.role == FieldRole::kValue &&
                     (IsMetadataName(name) || name.starts_with("key.") || name.starts_with("header."));
  if (taken) spelled.append("value.");
  spelled.append(name);
  return spelled;
}

Column* ColumnNames::FindOrAdd(FrameBuilder& builder, std::string_view name, std::string_view path) {
  std::string key(path);
  if (const auto known = name_of_path_.find(key); known != name_of_path_.end()) {
    return builder.FindOrAddColumn(known->second, scope_.role);
  }
  const std::string spelled = Spell(name);
  std::string free = spelled;
  for (int n = 2; path_of_name_.contains(free); ++n) free = spelled + "#" + std::to_string(n);
  Column* column = builder.FindOrAddColumn(free, scope_.role);
  if (column == nullptr) return nullptr;  // beyond the field cap: the name stays free
  path_of_name_.emplace(free, key);
  name_of_path_.emplace(std::move(key), std::move(free));
  return column;
}

Column* ColumnNames::Scalar(FrameBuilder& builder) { return builder.FindOrAddColumn(scope_.scalar, scope_.role); }

}  // namespace kafscope
