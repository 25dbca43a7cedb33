// JsonReader: the keys of a JSON object that a user's editor wrote, each with its type checked. The first wrong value
// is kept and names its key. Absent, null and empty-string values count as not set. Threads: one thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kafscope {

class JsonReader {
 public:
  // Empty bytes are an empty object. `what` is said in errors: "the query".
  static Result<JsonReader> Parse(std::string_view json, std::string_view what);

  std::string Text(std::string_view key, std::string_view otherwise = {});
  bool Flag(std::string_view key, bool otherwise);
  // Numbers, and digits in text as a template variable leaves them.
  int64_t Integer(std::string_view key, int64_t otherwise, int64_t least, int64_t most);
  // A text with commas or an array of texts.
  std::vector<std::string> List(std::string_view key);
  // One of `names`.
  std::string OneOf(std::string_view key, std::initializer_list<std::string_view> names);
  const Status& status() const { return status_; }

 private:
  const nlohmann::json* Find(std::string_view key) const;
  void Wrong(std::string_view key, std::string_view wanted);

  nlohmann::json object_;
  Status status_;
};

}  // namespace kafscope
