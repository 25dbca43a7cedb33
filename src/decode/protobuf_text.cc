#include "decode/protobuf_text.h"

#include <algorithm>
#include <cmath>

#include "base/base64.h"
#include "base/json_escape.h"
#include "base/number_format.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

constexpr size_t kMaxNumberSize = 40;  // more than a number with its quotes and comma

std::string_view Bytes(const ProtobufPiece& piece) {
  return {reinterpret_cast<const char*>(piece.begin), static_cast<size_t>(piece.end - piece.begin)};
}

}  // namespace

ProtobufText::ProtobufText(std::shared_ptr<const ProtobufSchema> schema) : schema_(std::move(schema)) {
  keys_.resize(schema_->num_messages());
  for (uint32_t i = 0; i < schema_->num_messages(); ++i) {
    for (const ProtobufField& field : schema_->message(i).fields) {
      std::string key;
      AppendJsonString(field.name, &key);
      keys_[i].push_back(key + ":");
    }
  }
}

bool ProtobufText::WriteField(const ProtobufField& field, std::span<const ProtobufPiece> pieces) {
  return WriteValue(field, Push(pieces), pieces.front().depth);
}

bool ProtobufText::WritePlain(const ProtobufField& field, std::span<const ProtobufPiece> pieces) {
  const size_t begin = size_;
  if (!WriteField(field, pieces)) return false;
  // The text of these types has nothing that JSON escapes.
  std::memmove(buffer_.data() + begin, buffer_.data() + begin + 1, size_ - begin - 2);
  size_ -= 2;
  return true;
}

ProtobufText::Range ProtobufText::Push(std::span<const ProtobufPiece> pieces) {
  const size_t begin = pieces_.size();
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  return {begin, pieces_.size()};
}

bool ProtobufText::WriteValue(const ProtobufField& field, Range range, int depth) {
  if (field.map) return WriteMap(field, range, depth);
  if (field.repeated) return WriteRepeated(field, range, depth);
  return WriteSingle(field, range, depth);
}

// Of several occurrences the last wins; those of messages are merged.
bool ProtobufText::WriteSingle(const ProtobufField& field, Range range, int depth) {
  if (field.type == ProtobufType::kMessage || field.type == ProtobufType::kGroup) {
    return WriteMessage(schema_->message(field.type_index), range, depth);
  }
  return WriteScalar(field, pieces_[range.end - 1]);
}

bool ProtobufText::WriteScalar(const ProtobufField& field, const ProtobufPiece& piece) {
  if (field.type == ProtobufType::kString) return WriteString(Bytes(piece), field.check_utf8);
  if (field.type == ProtobufType::kBytes) {
    WriteBase64Text(Bytes(piece));
    return size_ <= kMaxText || Fail(ProtobufFault::kTooLarge, piece.begin);
  }
  return WriteElement(field, piece.begin, piece.end) != nullptr;
}

// One number at `at`, without its tag; gives the place behind it.
const uint8_t* ProtobufText::WriteElement(const ProtobufField& field, const uint8_t* at, const uint8_t* end) {
  const uint8_t* next = nullptr;
  switch (field.type) {
    case ProtobufType::kDouble: {
      uint64_t bits = 0;
      if ((next = ReadFixed64(at, end, &bits)) != nullptr) WriteNumber(DoubleOf(bits));
      break;
    }
    case ProtobufType::kFixed64:
    case ProtobufType::kSfixed64: {
      uint64_t bits = 0;
      if ((next = ReadFixed64(at, end, &bits)) != nullptr) WriteVarint(field, bits);
      break;
    }
    case ProtobufType::kFloat: {
      uint32_t bits = 0;
      if ((next = ReadFixed32(at, end, &bits)) != nullptr) WriteNumber(FloatOf(bits));
      break;
    }
    case ProtobufType::kFixed32:
    case ProtobufType::kSfixed32: {
      uint32_t bits = 0;
      if ((next = ReadFixed32(at, end, &bits)) != nullptr) WriteVarint(field, bits);
      break;
    }
    default: {
      uint64_t bits = 0;
      if ((next = ReadVarint(at, end, &bits)) != nullptr) WriteVarint(field, bits);
      break;
    }
  }
  if (next == nullptr) Fail(ProtobufFault::kMalformed, at);
  return next;
}

void ProtobufText::WriteVarint(const ProtobufField& field, uint64_t bits) {
  const auto low = static_cast<uint32_t>(bits);
  switch (field.type) {
    case ProtobufType::kInt32:
    case ProtobufType::kSfixed32: End(WriteInt64(static_cast<int32_t>(low), Room(kMaxNumberSize))); break;
    case ProtobufType::kSint32: End(WriteInt64(ZigZag32(low), Room(kMaxNumberSize))); break;
    case ProtobufType::kUint32:
    case ProtobufType::kFixed32: End(WriteUint64(low, Room(kMaxNumberSize))); break;
    case ProtobufType::kInt64:
    case ProtobufType::kSfixed64: End(WriteInt64(static_cast<int64_t>(bits), Room(kMaxNumberSize))); break;
    case ProtobufType::kSint64: End(WriteInt64(ZigZag64(bits), Room(kMaxNumberSize))); break;
    case ProtobufType::kBool: Append(bits != 0 ? "true" : "false"); break;
    case ProtobufType::kEnum: WriteEnum(field, static_cast<int32_t>(low)); break;
    default: End(WriteUint64(bits, Room(kMaxNumberSize))); break;
  }
}

void ProtobufText::WriteEnum(const ProtobufField& field, int32_t number) {
  const std::string* name = schema_->enumeration(field.type_index).Name(number);
  if (name == nullptr) {
    End(WriteInt64(number, Room(kMaxNumberSize)));
    return;
  }
  Append('"');  // an identifier: nothing to escape
  Append(*name);
  Append('"');
}

void ProtobufText::WriteNumber(double value) {
  if (std::isfinite(value)) {
    End(kafscope::WriteDouble(value, Room(kMaxDoubleSize)));
  } else {
    Append(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
}

void ProtobufText::WriteDefault(const ProtobufField& field) {
  if (field.map) return Append("{}");
  if (field.repeated) return Append("[]");
  switch (field.type) {
    case ProtobufType::kString:
    case ProtobufType::kBytes: return Append("\"\"");
    case ProtobufType::kBool: return Append("false");
    case ProtobufType::kEnum: return WriteEnum(field, 0);
    default: return Append('0');
  }
}

bool ProtobufText::WriteRepeated(const ProtobufField& field, Range range, int depth) {
  Append('[');
  bool first = true;
  for (size_t i = range.begin; i < range.end; ++i) {
    const ProtobufPiece piece = pieces_[i];
    if (size_ > kMaxText) return Fail(ProtobufFault::kTooLarge, piece.begin);
    if (field.is_packable()) {
      for (const uint8_t* at = piece.begin; at != piece.end; first = false) {
        if (!first) Append(',');
        at = WriteElement(field, at, piece.end);
        if (at == nullptr) return false;
      }
      continue;
    }
    if (!first) Append(',');
    first = false;
    if (!WriteSingle(field, {i, i + 1}, depth)) return false;
  }
  Append(']');
  return true;
}

bool ProtobufText::WriteMap(const ProtobufField& field, Range range, int depth) {
  const ProtobufMessage& message = schema_->message(field.type_index);
  const ProtobufField& key = message.fields[0];
  const ProtobufField& value = message.fields[1];
  const size_t pieces_before = pieces_.size();
  const size_t entries_before = entries_.size();
  for (size_t i = range.begin; i < range.end; ++i) {
    Range found;
    if (!Collect(message, {i, i + 1}, depth - 1, &found)) return false;
    MapEntry entry;
    size_t keys_end = found.begin;
    while (keys_end < found.end && pieces_[keys_end].owner == 0) ++keys_end;
    if (keys_end > found.begin && !ReadMapKey(key, pieces_[keys_end - 1], &entry)) return false;
    entry.value = {keys_end, found.end};
    entries_.push_back(entry);
  }
  // Equal keys stay in the order of the record: of them the last is written.
  std::sort(entries_.begin() + static_cast<ptrdiff_t>(entries_before), entries_.end(),
            [](const MapEntry& a, const MapEntry& b) {
              if (a.number != b.number) return a.number < b.number;
              if (a.text != b.text) return a.text < b.text;
              return a.value.begin < b.value.begin || (a.value.begin == b.value.begin && a.value.end < b.value.end);
            });
  Append('{');
  const size_t entries_end = entries_.size();
  for (size_t i = entries_before; i < entries_end; ++i) {
    const MapEntry entry = entries_[i];
    // Of equal keys the last one is written; those before it are still read, so that a fault in them is found.
    const bool replaced =
        i + 1 < entries_end && entries_[i + 1].number == entry.number && entries_[i + 1].text == entry.text;
    const size_t mark = size_;
    if (buffer_.data()[size_ - 1] != '{') Append(',');  // a value never ends so
    if (!WriteMapKey(key, entry)) return false;
    const bool is_message = value.type == ProtobufType::kMessage;
    if (entry.value.empty() && !is_message) {
      WriteDefault(value);
    } else if (!WriteSingle(value, entry.value, depth - 1)) {
      return false;
    }
    if (replaced) size_ = mark;
  }
  Append('}');
  entries_.resize(entries_before);
  PopTo(pieces_before);
  return true;
}

bool ProtobufText::ReadMapKey(const ProtobufField& key, const ProtobufPiece& piece, MapEntry* entry) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto signed_key = [](int64_t value) { return static_cast<uint64_t>(value) ^ kSign; };
  if (key.type == ProtobufType::kString) {
    entry->text = Bytes(piece);
    return true;
  }
  uint64_t bits = 0;
  uint32_t half = 0;
  const uint8_t* read = nullptr;
  switch (piece.wire) {
    case WireType::kFixed32:
      read = ReadFixed32(piece.begin, piece.end, &half);
      bits = half;
      break;
    case WireType::kFixed64: read = ReadFixed64(piece.begin, piece.end, &bits); break;
    default: read = ReadVarint(piece.begin, piece.end, &bits); break;
  }
  if (read == nullptr) return Fail(ProtobufFault::kMalformed, piece.begin);
  const auto low = static_cast<uint32_t>(bits);
  switch (key.type) {
    case ProtobufType::kInt32:
    case ProtobufType::kSfixed32: entry->number = signed_key(static_cast<int32_t>(low)); break;
    case ProtobufType::kSint32: entry->number = signed_key(ZigZag32(low)); break;
    case ProtobufType::kInt64:
    case ProtobufType::kSfixed64: entry->number = signed_key(static_cast<int64_t>(bits)); break;
    case ProtobufType::kSint64: entry->number = signed_key(ZigZag64(bits)); break;
    case ProtobufType::kUint32:
    case ProtobufType::kFixed32: entry->number = low; break;
    case ProtobufType::kBool: entry->number = bits != 0 ? 1 : 0; break;
    default: entry->number = bits; break;
  }
  return true;
}

bool ProtobufText::WriteMapKey(const ProtobufField& key, const MapEntry& entry) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  switch (key.type) {
    case ProtobufType::kString:
      if (!WriteString(entry.text, key.check_utf8)) return false;
      break;
    case ProtobufType::kBool: Append(entry.number != 0 ? "\"true\"" : "\"false\""); break;
    case ProtobufType::kUint32:
    case ProtobufType::kFixed32:
    case ProtobufType::kUint64:
    case ProtobufType::kFixed64:
      Append('"');
      End(WriteUint64(entry.number, Room(kMaxNumberSize)));
      Append('"');
      break;
    default:
      Append('"');
      End(WriteInt64(static_cast<int64_t>(entry.number ^ kSign), Room(kMaxNumberSize)));
      Append('"');
      break;
  }
  Append(':');
  return true;
}

bool ProtobufText::WriteMessage(const ProtobufMessage& message, Range slices, int depth) {
  if (depth <= 0 && !slices.empty()) return Fail(ProtobufFault::kTooDeep, pieces_[slices.begin].begin);
  if (message.well_known != ProtobufWellKnown::kNone) return WriteKnown(message, slices, depth);
  const size_t before = pieces_.size();
  Range range;
  if (!Collect(message, slices, depth - 1, &range)) return false;
  if (!WriteFields(message, range, depth, true)) return false;
  PopTo(before);
  return true;
}

// The fields of one message as an object; `first`: it is opened here, else fields go on behind others.
bool ProtobufText::WriteFields(const ProtobufMessage& message, Range range, int depth, bool first) {
  if (first) Append('{');
  const std::vector<std::string>& keys = keys_[static_cast<size_t>(&message - &schema_->message(0))];
  size_t at = range.begin;
  for (uint32_t i = 0; i < message.fields.size(); ++i) {
    const ProtobufField& field = message.fields[i];
    const size_t begin = at;
    while (at < range.end && pieces_[at].owner == i) ++at;
    if (begin == at && field.presence) continue;
    if (!first) Append(',');
    first = false;
    Append(keys[i]);
    if (begin == at) {
      WriteDefault(field);
    } else if (!WriteValue(field, {begin, at}, depth - 1)) {
      return false;
    }
    if (size_ > kMaxText) return Fail(ProtobufFault::kTooLarge, begin == at ? nullptr : pieces_[begin].begin);
  }
  Append('}');
  return true;
}

bool ProtobufText::WriteKnown(const ProtobufMessage& message, Range slices, int depth) {
  if (message.well_known == ProtobufWellKnown::kTimestamp || message.well_known == ProtobufWellKnown::kDuration) {
    return WriteSeconds(message, slices);
  }
  const size_t before = pieces_.size();
  Range range;
  if (!Collect(message, slices, depth - 1, &range)) return false;
  bool written = true;
  const ProtobufField& field = message.fields[0];
  switch (message.well_known) {
    case ProtobufWellKnown::kAny: written = WriteAny(message, range, depth); break;
    case ProtobufWellKnown::kFieldMask: written = WriteFieldMask(range); break;
    case ProtobufWellKnown::kValue: {
      // Collect() has left one arm of the oneof.
      const ProtobufField* arm = range.empty() ? nullptr : &message.fields[pieces_[range.end - 1].owner];
      if (arm == nullptr || arm->number == 1) {
        Append("null");
      } else {
        size_t begin = range.end;
        while (begin > range.begin && pieces_[begin - 1].owner == pieces_[range.end - 1].owner) --begin;
        written = WriteValue(*arm, {begin, range.end}, depth - 1);
      }
      break;
    }
    default:  // kWrapper, kStruct, kListValue: their one field
      if (range.empty()) {
        WriteDefault(field);
      } else {
        written = WriteValue(field, range, depth - 1);
      }
      break;
  }
  PopTo(before);
  return written;
}

bool ProtobufText::WriteAny(const ProtobufMessage& message, Range range, int depth) {
  std::string_view url;
  ProtobufPiece value;
  for (size_t i = range.begin; i < range.end; ++i) {
    if (message.fields[pieces_[i].owner].number == 1) {
      url = Bytes(pieces_[i]);
    } else {
      value = pieces_[i];
    }
  }
  if (range.empty()) {
    Append("{}");
    return true;
  }
  Append("{\"@type\":");
  if (!WriteString(url, message.fields[0].check_utf8)) return false;
  const uint32_t index = schema_->FindFullName(url.substr(url.rfind('/') + 1));  // npos + 1 is 0
  if (index == ProtobufSchema::kNoMessage) {
    Append(",\"value\":");
    WriteBase64Text(Bytes(value));
    Append('}');
    return size_ <= kMaxText || Fail(ProtobufFault::kTooLarge, value.begin);
  }
  const ProtobufMessage& inner = schema_->message(index);
  const Range slice = value.begin == nullptr ? Range{pieces_.size(), pieces_.size()} : Push({&value, 1});
  if (inner.well_known != ProtobufWellKnown::kNone) {
    Append(",\"value\":");
    if (!WriteMessage(inner, slice, depth - 1)) return false;
    Append('}');
    return true;
  }
  if (depth <= 1) return Fail(ProtobufFault::kTooDeep, value.begin);  // two levels: the Any and what it holds
  Range fields;
  return Collect(inner, slice, depth - 2, &fields) && WriteFields(inner, fields, depth - 1, false);
}

bool ProtobufText::WriteSeconds(const ProtobufMessage& message, Range slices) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  const std::span<const ProtobufPiece> pieces(pieces_.data() + slices.begin, slices.end - slices.begin);
  const uint8_t* at = pieces.empty() ? nullptr : pieces.front().begin;
  if (!ReadSecondsAndNanos(pieces, &seconds, &nanos)) return Fail(ProtobufFault::kMalformed, at);
  Append('"');
  if (message.well_known == ProtobufWellKnown::kTimestamp) {
    if (!IsValidTimestamp(seconds, nanos)) return Fail(ProtobufFault::kBadTimestamp, at);
    End(WriteTimestamp(seconds, nanos, Room(kMaxNumberSize)));
  } else {
    if (!IsValidDuration(seconds, nanos)) return Fail(ProtobufFault::kBadDuration, at);
    End(WriteDuration(seconds, nanos, Room(kMaxNumberSize)));
  }
  Append('"');
  return true;
}

// Paths in lower camel case with commas between. A path that has no such form (an upper case letter of its own, `_`
// before something else than a lower case letter) is written as it is.
bool ProtobufText::WriteFieldMask(Range range) {
  scratch_.clear();
  for (size_t i = range.begin; i < range.end; ++i) {
    const std::string_view path = Bytes(pieces_[i]);
    if (i > range.begin) scratch_.push_back(',');
    bool plain = true;
    for (size_t c = 0; c < path.size(); ++c) {
      plain &= path[c] < 'A' || path[c] > 'Z';
      if (path[c] == '_') plain &= c + 1 < path.size() && path[c + 1] >= 'a' && path[c + 1] <= 'z';
    }
    for (size_t c = 0; c < path.size(); ++c) {
      if (plain && path[c] == '_') {
        scratch_.push_back(static_cast<char>(path[++c] - 'a' + 'A'));
      } else {
        scratch_.push_back(path[c]);
      }
    }
  }
  if (!IsAscii(scratch_) && !IsValidUtf8(scratch_)) {
    return Fail(ProtobufFault::kInvalidUtf8, pieces_[range.begin].begin);
  }
  char* to = Room(MaxJsonStringSize(scratch_.size()));
  End(WriteJsonString(scratch_, to));
  return true;
}

bool ProtobufText::WriteString(std::string_view bytes, bool check) {
  if (bytes.size() > kMaxText - std::min(size_, kMaxText)) {
    return Fail(ProtobufFault::kTooLarge, reinterpret_cast<const uint8_t*>(bytes.data()));
  }
  if (!IsAscii(bytes)) {
    const size_t valid = ValidUtf8Prefix(bytes);
    if (valid != bytes.size()) {
      if (check) return Fail(ProtobufFault::kInvalidUtf8, reinterpret_cast<const uint8_t*>(bytes.data()) + valid);
      scratch_.clear();
      AppendReplacedUtf8(bytes, &scratch_);
      ++replaced_utf8_;
      bytes = scratch_;
    }
  }
  char* to = Room(MaxJsonStringSize(bytes.size()));
  End(WriteJsonString(bytes, to));
  return true;
}

void ProtobufText::WriteBase64Text(std::string_view bytes) {
  Append('"');
  char* to = Room(Base64Size(bytes.size()));
  WriteBase64(bytes, to);
  End(to + Base64Size(bytes.size()));
  Append('"');
}

// Finds the fields of a message in its slices and puts them on the stack, by field and in the order of the record;
// arms of a oneof that another one has replaced are left out.
bool ProtobufText::Collect(const ProtobufMessage& message, Range slices, int depth, Range* range) {
  if (depth < 0 && !slices.empty()) return Fail(ProtobufFault::kTooDeep, pieces_[slices.begin].begin);
  range->begin = pieces_.size();
  const size_t oneofs = oneofs_.size();
  for (size_t i = slices.begin; i < slices.end; ++i) {
    if (!CollectSlice(message, pieces_[i], depth, oneofs)) return false;
  }
  if (oneofs_.size() > oneofs) {
    const auto replaced = [&](const ProtobufPiece& piece) {
      const int32_t oneof = message.fields[piece.owner].oneof;
      if (oneof < 0) return false;
      const Oneof& state = oneofs_[oneofs + static_cast<size_t>(oneof)];
      return state.member != piece.owner || piece.begin < state.valid_from;
    };
    const auto begin = pieces_.begin() + static_cast<ptrdiff_t>(range->begin);
    pieces_.erase(std::remove_if(begin, pieces_.end(), replaced), pieces_.end());
    oneofs_.resize(oneofs);
  }
  const auto by_field = [](const ProtobufPiece& a, const ProtobufPiece& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.begin < b.begin;
  };
  const auto begin = pieces_.begin() + static_cast<ptrdiff_t>(range->begin);
  if (!std::is_sorted(begin, pieces_.end(), by_field)) std::sort(begin, pieces_.end(), by_field);
  range->end = pieces_.size();
  return true;
}

bool ProtobufText::CollectSlice(const ProtobufMessage& message, ProtobufPiece slice, int depth, size_t oneofs) {
  uint32_t expected = 0;
  for (const uint8_t* at = slice.begin; at < slice.end;) {
    const uint8_t* tag_at = at;
    uint32_t tag = 0;
    at = ReadTag(at, slice.end, &tag);
    if (at == nullptr) return Fail(ProtobufFault::kBadTag, tag_at);
    ProtobufPiece piece;
    piece.wire = static_cast<WireType>(tag & 7);
    piece.begin = at;
    if (piece.wire == WireType::kLength) {
      std::string_view bytes;
      if (ReadBytes(at, slice.end, &bytes) == nullptr) return Fail(ProtobufFault::kMalformed, at);
      piece.begin = reinterpret_cast<const uint8_t*>(bytes.data());
      at = piece.end = piece.begin + bytes.size();
    } else {
      at = SkipValue(tag, at, slice.end, depth, &piece.end, &fault_, &fault_at_);
      if (at == nullptr) return false;
    }
    expected = message.FindField(tag >> 3, expected);
    if (expected == ProtobufMessage::kNoField || !message.fields[expected].Takes(piece.wire)) {
      ++unknown_fields_;
      expected = 0;
      continue;
    }
    piece.owner = expected;
    if (const int32_t oneof = message.fields[expected].oneof; oneof >= 0) {
      const size_t index = oneofs + static_cast<size_t>(oneof);
      if (oneofs_.size() <= index) oneofs_.resize(index + 1);
      if (oneofs_[index].member != expected) oneofs_[index] = {expected, piece.begin};
    }
    pieces_.push_back(piece);
    // A repeated field is likely to come again; another one is followed by the next.
    if (!message.fields[expected].repeated && expected + 1 < message.fields.size()) ++expected;
  }
  return true;
}

bool ReadSecondsAndNanos(std::span<const ProtobufPiece> slices, int64_t* seconds, int32_t* nanos) {
  for (const ProtobufPiece& slice : slices) {
    for (const uint8_t* at = slice.begin; at < slice.end;) {
      uint32_t tag = 0;
      at = ReadTag(at, slice.end, &tag);
      if (at == nullptr) return false;
      if (tag == 8 || tag == 16) {
        uint64_t bits = 0;
        at = ReadVarint(at, slice.end, &bits);
        if (tag == 8) *seconds = static_cast<int64_t>(bits);
        if (tag == 16) *nanos = static_cast<int32_t>(static_cast<uint32_t>(bits));
      } else {
        ProtobufFault fault;
        const uint8_t* where = nullptr;
        at = SkipValue(tag, at, slice.end, kMaxProtobufDepth, nullptr, &fault, &where);
      }
      if (at == nullptr) return false;
    }
  }
  return true;
}

bool IsValidTimestamp(int64_t seconds, int32_t nanos) {
  return seconds >= -62135596800 && seconds <= 253402300799 && nanos >= 0 && nanos <= 999999999;
}

bool IsValidDuration(int64_t seconds, int32_t nanos) {
  return seconds >= -315576000000 && seconds <= 315576000000 && nanos >= -999999999 && nanos <= 999999999 &&
         !(seconds > 0 && nanos < 0) && !(seconds < 0 && nanos > 0);
}

namespace {

char* WriteDigits(uint64_t value, int digits, char* out) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + digits;
}

char* WriteFraction(uint32_t nanos, char* out) {
  if (nanos == 0) return out;
  *out++ = '.';
  if (nanos % 1000000 == 0) return WriteDigits(nanos / 1000000, 3, out);
  if (nanos % 1000 == 0) return WriteDigits(nanos / 1000, 6, out);
  return WriteDigits(nanos, 9, out);
}

}  // namespace

char* WriteTimestamp(int64_t seconds, int32_t nanos, char* out) {
  constexpr int64_t kDay = 86400;
  int64_t days = seconds / kDay;
  int64_t of_day = seconds % kDay;
  if (of_day < 0) {
    of_day += kDay;
    --days;
  }
  // Days since 0000-03-01, in eras of 400 years: leap days then end their years.
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  out = WriteDigits(static_cast<uint64_t>(year), 4, out);
  *out++ = '-';
  out = WriteDigits(static_cast<uint64_t>(month), 2, out);
  *out++ = '-';
  out = WriteDigits(static_cast<uint64_t>(day), 2, out);
  *out++ = 'T';
  out = WriteDigits(static_cast<uint64_t>(of_day / 3600), 2, out);
  *out++ = ':';
  out = WriteDigits(static_cast<uint64_t>(of_day / 60 % 60), 2, out);
  *out++ = ':';
  out = WriteDigits(static_cast<uint64_t>(of_day % 60), 2, out);
  out = WriteFraction(static_cast<uint32_t>(nanos), out);
  *out++ = 'Z';
  return out;
}

char* WriteDuration(int64_t seconds, int32_t nanos, char* out) {
  if (seconds < 0 || nanos < 0) *out++ = '-';
  out = WriteUint64(static_cast<uint64_t>(seconds < 0 ? -seconds : seconds), out);
  out = WriteFraction(static_cast<uint32_t>(nanos < 0 ? -nanos : nanos), out);
  *out++ = 's';
  return out;
}

}  // namespace kafscope
