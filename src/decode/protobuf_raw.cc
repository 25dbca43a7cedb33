#include "decode/protobuf_raw.h"

#include <algorithm>

#include "base/base64.h"
#include "base/json_escape.h"
#include "base/number_format.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

constexpr int kMaxGuessDepth = 12;  // a guess reads its bytes once a level

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Little end first, as on the wire.
std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (size_t i = bytes.size(); i-- > 0;) {
    text.push_back(kDigits[static_cast<uint8_t>(bytes[i]) >> 4]);
    text.push_back(kDigits[static_cast<uint8_t>(bytes[i]) & 15]);
  }
  return text;
}

uint64_t VarintOf(std::string_view bytes) {
  uint64_t value = 0;
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  ReadVarint(at, at + bytes.size(), &value);
  return value;
}

}  // namespace

bool ProtobufRaw::Split(std::string_view message, std::vector<Field>* fields, ProtobufFault* fault,
                        const uint8_t** at) {
  const auto* next = reinterpret_cast<const uint8_t*>(message.data());
  const uint8_t* const end = next + message.size();
  while (next < end) {
    *at = next;
    uint32_t tag = 0;
    next = ReadTag(next, end, &tag);
    if (next == nullptr) {
      *fault = ProtobufFault::kBadTag;
      return false;
    }
    Field field{tag >> 3, static_cast<WireType>(tag & 7), {}};
    const uint8_t* begin = next;
    const uint8_t* content_end = nullptr;
    next = SkipValue(tag, next, end, kMaxProtobufDepth, &content_end, fault, at);
    if (next == nullptr) return false;
    if (field.wire == WireType::kLength) {
      ReadBytes(begin, end, &field.bytes);
    } else {
      field.bytes = {reinterpret_cast<const char*>(begin), static_cast<size_t>(content_end - begin)};
    }
    fields->push_back(field);
  }
  std::sort(fields->begin(), fields->end(), [](const Field& a, const Field& b) {
    return a.number != b.number ? a.number < b.number : a.bytes.data() < b.bytes.data();
  });
  return true;
}

ProtobufRaw::Guess ProtobufRaw::GuessOf(const Field& field, int depth) {
  if (field.wire == WireType::kStartGroup) return Guess::kMessage;
  if (IsPrintable(field.bytes)) return Guess::kText;
  std::vector<Field> ignored;
  ProtobufFault fault;
  const uint8_t* at = nullptr;
  if (depth > 0 && Split(field.bytes, &ignored, &fault, &at)) return Guess::kMessage;
  return IsValidUtf8(field.bytes) ? Guess::kText : Guess::kBytes;
}

ProtobufFault ProtobufRaw::Run(std::string_view payload, FrameBuilder& builder) {
  std::vector<Field> fields;
  ProtobufFault fault = ProtobufFault::kNone;
  const uint8_t* at = nullptr;
  if (!Split(payload, &fields, &fault, &at)) {
    fault_at_ = static_cast<size_t>(at - reinterpret_cast<const uint8_t*>(payload.data()));
    return fault;
  }
  WriteMessage(payload, "", 0, builder);
  return ProtobufFault::kNone;
}

Column* ProtobufRaw::ColumnOf(const std::string& path, FrameBuilder& builder) {
  const auto [place, added] = columns_.emplace(path, nullptr);
  if (added) place->second = names_.FindOrAdd(builder, path, path);
  return place->second;
}

// REQUIRES: a message that Split() takes.
void ProtobufRaw::WriteMessage(std::string_view message, const std::string& path, uint32_t depth,
                               FrameBuilder& builder) {
  std::vector<Field> fields;
  ProtobufFault fault;
  const uint8_t* at = nullptr;
  Split(message, &fields, &fault, &at);
  for (size_t begin = 0; begin < fields.size();) {
    size_t end = begin + 1;
    while (end < fields.size() && fields[end].number == fields[begin].number) ++end;
    const std::string name = (path.empty() ? "" : path + ".") + std::to_string(fields[begin].number);
    if (end - begin == 1) {
      WriteField(fields[begin], name, depth + 1, builder);
    } else if (Column* column = ColumnOf(name, builder)) {
      std::string text;
      AppendJsonArray(&fields[begin], fields.data() + end, kMaxGuessDepth, &text);
      column->AppendString(text);
    }
    begin = end;
  }
}

void ProtobufRaw::WriteField(const Field& field, const std::string& path, uint32_t depth, FrameBuilder& builder) {
  const bool bytes = field.wire == WireType::kLength || field.wire == WireType::kStartGroup;
  const Guess guess = bytes ? GuessOf(field, kMaxGuessDepth) : Guess::kText;
  if (guess == Guess::kMessage && depth < max_depth_ && !field.bytes.empty()) {
    return WriteMessage(field.bytes, path, depth, builder);
  }
  Column* column = ColumnOf(path, builder);
  if (column == nullptr) return;
  if (field.wire == WireType::kVarint) return column->AppendUint64(VarintOf(field.bytes));
  if (!bytes) return column->AppendString(Hex(field.bytes));
  switch (guess) {
    case Guess::kText: return column->AppendString(field.bytes);
    case Guess::kBytes: return column->AppendBytes(field.bytes);
    case Guess::kMessage: {
      std::string text;
      AppendJson(field, kMaxGuessDepth, &text);
      return column->AppendString(text);
    }
  }
}

void ProtobufRaw::AppendJson(const Field& field, int depth, std::string* out) {
  if (field.wire == WireType::kVarint) return AppendUint64(VarintOf(field.bytes), out);
  if (field.wire != WireType::kLength && field.wire != WireType::kStartGroup) {
    return AppendJsonString(Hex(field.bytes), out);
  }
  const Guess guess = depth > 0 ? GuessOf(field, depth) : Guess::kBytes;
  switch (guess) {
    case Guess::kText: return AppendJsonString(field.bytes, out);
    case Guess::kBytes: return AppendJsonString(ToBase64(field.bytes), out);
    case Guess::kMessage: return AppendJsonMessage(field.bytes, depth - 1, out);
  }
}

void ProtobufRaw::AppendJsonArray(const Field* begin, const Field* end, int depth, std::string* out) {
  out->push_back('[');
  for (const Field* field = begin; field != end; ++field) {
    if (field != begin) out->push_back(',');
    AppendJson(*field, depth, out);
  }
  out->push_back(']');
}

void ProtobufRaw::AppendJsonMessage(std::string_view message, int depth, std::string* out) {
  std::vector<Field> fields;
  ProtobufFault fault;
  const uint8_t* at = nullptr;
  Split(message, &fields, &fault, &at);
  out->push_back('{');
  for (size_t begin = 0; begin < fields.size();) {
    size_t end = begin + 1;
    while (end < fields.size() && fields[end].number == fields[begin].number) ++end;
    if (begin > 0) out->push_back(',');
    AppendJsonString(std::to_string(fields[begin].number), out);
    out->push_back(':');
    if (end - begin == 1) {
      AppendJson(fields[begin], depth, out);
    } else {
      AppendJsonArray(&fields[begin], fields.data() + end, depth, out);
    }
    begin = end;
  }
  out->push_back('}');
}

}  // namespace kafscope
