#include "schema/wire_format.h"

#include <algorithm>

namespace kafscope {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kNotFramedStem = "not registry-framed: first byte 0x";
constexpr size_t kNotFramedSize = kNotFramedStem.size() + 2;

// One text a byte, so that an error row needs no memory of its own.
constexpr auto MakeNotFramedTexts() {
  std::array<std::array<char, kNotFramedSize>, 256> texts{};
  for (size_t byte = 0; byte < texts.size(); ++byte) {
    std::copy(kNotFramedStem.begin(), kNotFramedStem.end(), texts[byte].begin());
    texts[byte][kNotFramedSize - 2] = kHexDigits[byte >> 4];
    texts[byte][kNotFramedSize - 1] = kHexDigits[byte & 15];
  }
  return texts;
}
constexpr auto kNotFramedTexts = MakeNotFramedTexts();

int32_t ReadBigEndian32(const char* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(at[i]);
  return static_cast<int32_t>(value);
}

// A zigzag varint of at most ten bytes.
bool ReadZigzag(std::string_view* bytes, int64_t* value) {
  uint64_t raw = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>((*bytes)[i]);
    if (i == 9 && byte > 1) return false;
    raw |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = static_cast<int64_t>(raw >> 1 ^ (0 - (raw & 1)));
      bytes->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view WireFaultText(WireFault fault) {
  switch (fault) {
    case WireFault::kNone: return "no fault";
    case WireFault::kEmpty: return "not registry-framed: empty";
    case WireFault::kNotFramed: return "not registry-framed: first byte is not 0x00";
    case WireFault::kTooShort: return "not registry-framed: shorter than the 5 bytes of a prefix";
    case WireFault::kBadHeader: return "schema id header is neither 0x00 + id nor 0x01 + GUID";
    case WireFault::kBadIndexes: return "message indexes are cut off or not valid";
    case WireFault::kTooManyIndexes: return "message indexes are nested too deep";
  }
  return "";
}

std::string_view NotFramedText(uint8_t first_byte) { return {kNotFramedTexts[first_byte].data(), kNotFramedSize}; }

std::string SchemaRef::GuidText() const {
  std::string text;
  text.reserve(36);
  for (size_t i = 0; i < guid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHexDigits[guid[i] >> 4];
    text += kHexDigits[guid[i] & 15];
  }
  return text;
}

WireFault ReadSchemaPrefix(std::string_view value, int32_t* id, std::string_view* payload) {
  if (value.empty()) return WireFault::kEmpty;
  if (value[0] != 0) return WireFault::kNotFramed;
  if (value.size() < 5) return WireFault::kTooShort;
  *id = ReadBigEndian32(value.data() + 1);
  *payload = value.substr(5);
  return WireFault::kNone;
}

WireFault ReadSchemaHeader(std::string_view header_value, SchemaRef* schema, std::string_view* rest) {
  if (header_value.size() >= 5 && header_value[0] == 0) {
    schema->by_guid = false;
    schema->id = ReadBigEndian32(header_value.data() + 1);
    *rest = header_value.substr(5);
    return WireFault::kNone;
  }
  if (header_value.size() >= 17 && header_value[0] == 1) {
    schema->by_guid = true;
    schema->id = 0;
    std::copy_n(reinterpret_cast<const uint8_t*>(header_value.data()) + 1, 16, schema->guid.begin());
    *rest = header_value.substr(17);
    return WireFault::kNone;
  }
  return WireFault::kBadHeader;
}

WireFault Unframe(std::span<const RecordHeader> headers, std::string_view value, SchemaSide side,
                  FramedPayload* framed) {
  const std::string_view name = side == SchemaSide::kKey ? "__key_schema_id" : "__value_schema_id";
  for (const RecordHeader& header : headers) {
    if (header.name != name || header.value_is_null) continue;
    framed->from_header = true;
    framed->payload = value;
    return ReadSchemaHeader(header.value, &framed->schema, &framed->header_rest);
  }
  framed->from_header = false;
  framed->header_rest = {};
  framed->schema.by_guid = false;
  return ReadSchemaPrefix(value, &framed->schema.id, &framed->payload);
}

WireFault ReadMessageIndexes(std::string_view bytes, MessageIndexes* indexes, std::string_view* rest, size_t max) {
  int64_t count = 0;
  if (!ReadZigzag(&bytes, &count) || count < 0) return WireFault::kBadIndexes;
  if (static_cast<uint64_t>(count) > std::min(max, MessageIndexes::kMax)) return WireFault::kTooManyIndexes;
  indexes->size = std::max<size_t>(static_cast<size_t>(count), 1);
  indexes->index[0] = 0;  // count 0 is short for [0]
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    if (!ReadZigzag(&bytes, &indexes->index[i]) || indexes->index[i] < 0) return WireFault::kBadIndexes;
  }
  *rest = bytes;
  return WireFault::kNone;
}

}  // namespace kafscope
