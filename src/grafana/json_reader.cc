#include "grafana/json_reader.h"

#include <charconv>

namespace kafscope {

Result<JsonReader> JsonReader::Parse(std::string_view json, std::string_view what) {
  JsonReader reader;
  reader.object_ = json.empty() ? nlohmann::json::object() : nlohmann::json::parse(json, nullptr, false);
  if (!reader.object_.is_object()) {
    return Fail(Status::InvalidArgument(std::string(what) + " must be a JSON object"));
  }
  return reader;
}

const nlohmann::json* JsonReader::Find(std::string_view key) const {
  const auto found = object_.find(key);
  if (found == object_.end() || found->is_null()) return nullptr;
  if (found->is_string() && found->get_ref<const std::string&>().empty()) return nullptr;
  return &*found;
}

void JsonReader::Wrong(std::string_view key, std::string_view wanted) {
  if (status_.ok()) status_ = Status::InvalidArgument(std::string(key) + " must be " + std::string(wanted));
}

std::string JsonReader::Text(std::string_view key, std::string_view otherwise) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number()) return value->dump();
  Wrong(key, "a text");
  return std::string(otherwise);
}

bool JsonReader::Flag(std::string_view key, bool otherwise) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Wrong(key, "true or false");
  return otherwise;
}

int64_t JsonReader::Integer(std::string_view key, int64_t otherwise, int64_t least, int64_t most) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  int64_t number = 0;
  bool good = false;
  if (value->is_number_integer()) {
    number = value->get<int64_t>();
    good = true;
  } else if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    good = error == std::errc() && stop == text.data() + text.size();
  }
  if (!good || number < least || number > most) {
    Wrong(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return otherwise;
  }
  return number;
}

std::vector<std::string> JsonReader::List(std::string_view key) {
  std::vector<std::string> list;
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return list;
  if (value->is_array()) {
    for (const nlohmann::json& entry : *value) {
      if (entry.is_string()) {
        list.push_back(entry.get<std::string>());
      } else {
        Wrong(key, "a list of texts");
      }
    }
    return list;
  }
  std::string text = Text(key);
  size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, comma - begin);
    const size_t first = part.find_first_not_of(" \t\n");
    if (first != std::string::npos) list.push_back(part.substr(first, part.find_last_not_of(" \t\n") - first + 1));
    begin = comma + 1;
  }
  return list;
}

std::string JsonReader::OneOf(std::string_view key, std::initializer_list<std::string_view> names) {
  std::string text = Text(key, *names.begin());
  std::string wanted = "one of";
  for (const std::string_view name : names) {
    if (text == name) return text;
    wanted.append(" ").append(name);
  }
  Wrong(key, wanted);
  return std::string(*names.begin());
}

}  // namespace kafscope
