#include "frame/schema.h"

namespace kafscope {

std::string_view DataTypeName(DataType type) {
  switch (type) {
    case DataType::kNull: return "null";
    case DataType::kBool: return "bool";
    case DataType::kInt32: return "int32";
    case DataType::kInt64: return "int64";
    case DataType::kUint64: return "uint64";
    case DataType::kFloat64: return "float64";
    case DataType::kTime: return "time";
    case DataType::kString: return "string";
    case DataType::kBytes: return "bytes";
  }
  return "null";
}

int Schema::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace kafscope
