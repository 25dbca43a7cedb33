#include "decode/protobuf_wire.h"

namespace kafscope {

const uint8_t* ReadLongVarint(const uint8_t* at, const uint8_t* end, uint64_t* value) {
  uint64_t read = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at == end) return nullptr;
    const uint8_t byte = *at++;
    if (shift < 64) read |= static_cast<uint64_t>(byte & 0x7f) << shift;  // what does not fit falls out, as in protoc's
    if (byte < 0x80) {
      *value = read;
      return at;
    }
  }
  return nullptr;
}

const uint8_t* ReadLongSize(const uint8_t* at, const uint8_t* end, uint64_t* size) {
  const uint8_t* const begin = at;
  at = ReadLongVarint(at, end, size);
  return at == nullptr || at - begin > 5 || *size > INT32_MAX ? nullptr : at;
}

const uint8_t* ReadLongTag(const uint8_t* at, const uint8_t* end, uint32_t* tag) {
  uint32_t read = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at == end) return nullptr;
    const uint8_t byte = *at++;
    read |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *tag = read;
      return read >> 3 == 0 ? nullptr : at;
    }
  }
  return nullptr;
}

namespace {

const uint8_t* Refuse(ProtobufFault what, const uint8_t* where, ProtobufFault* fault, const uint8_t** fault_at) {
  *fault = what;
  *fault_at = where;
  return nullptr;
}

}  // namespace

const uint8_t* SkipValue(uint32_t tag, const uint8_t* at, const uint8_t* end, int depth, const uint8_t** content_end,
                         ProtobufFault* fault, const uint8_t** fault_at) {
  const uint8_t* next = nullptr;
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint: {
      uint64_t ignored = 0;
      next = ReadVarint(at, end, &ignored);
      break;
    }
    case WireType::kFixed64: next = end - at < 8 ? nullptr : at + 8; break;
    case WireType::kFixed32: next = end - at < 4 ? nullptr : at + 4; break;
    case WireType::kLength: {
      std::string_view ignored;
      next = ReadBytes(at, end, &ignored);
      break;
    }
    case WireType::kStartGroup: {
      if (depth <= 0) return Refuse(ProtobufFault::kTooDeep, at, fault, fault_at);
      while (at < end) {
        const uint8_t* field = at;
        uint32_t inner = 0;
        at = ReadTag(at, end, &inner);
        if (at == nullptr) return Refuse(ProtobufFault::kBadTag, field, fault, fault_at);
        if ((inner & 7) == static_cast<uint32_t>(WireType::kEndGroup)) {
          if (inner >> 3 != tag >> 3) return Refuse(ProtobufFault::kBadGroup, field, fault, fault_at);
          if (content_end != nullptr) *content_end = field;
          return at;
        }
        at = SkipValue(inner, at, end, depth - 1, nullptr, fault, fault_at);
        if (at == nullptr) return nullptr;
      }
      return Refuse(ProtobufFault::kBadGroup, at, fault, fault_at);
    }
    case WireType::kEndGroup: return Refuse(ProtobufFault::kBadGroup, at, fault, fault_at);
    default: return Refuse(ProtobufFault::kBadWireType, at, fault, fault_at);
  }
  if (next == nullptr) return Refuse(ProtobufFault::kMalformed, at, fault, fault_at);
  if (content_end != nullptr) *content_end = next;
  return next;
}

}  // namespace kafscope
