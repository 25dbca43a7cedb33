// DecodeError: why one record (or one line of it) could not be decoded. A small value, never an exception: the reason
// is the label of its counter, the text is put together only when the error row is written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kafscope {

enum class ErrorReason : uint8_t {
  kNone,
  kInvalidJson,
  kInvalidUtf8,
  kEmptyValue,
  kTruncated,      // the bytes end in the middle of a value
  kTrailingBytes,  // bytes remain after the value
  kInvalidValue,   // a value outside its type: length, index, number, union branch
  kTooDeep,
  kTooLarge,
  kNotFramed,      // no registry prefix where one must be
  kUnknownSchema,  // the registry does not know the id
  kInvalidSchema,  // the schema does not compile
  kRegistryUnavailable,
  kInvalidLine,  // line protocol
  kInvalidKey,   // the key does not decode; the value did
};
inline constexpr size_t kErrorReasonCount = static_cast<size_t>(ErrorReason::kInvalidKey) + 1;

std::string_view ErrorReasonName(ErrorReason reason);  // "invalid_json", …

struct DecodeError {
  ErrorReason reason = ErrorReason::kNone;
  uint64_t position = 0;  // byte in the record's value (or line number for line protocol)
  std::string_view text;  // static text, or valid until the decoder's next call

  bool ok() const { return reason == ErrorReason::kNone; }
  // "invalid_json at byte 12: expected ',' or '}'"; line protocol says "line" for "byte".
  std::string ToString() const;
};

}  // namespace kafscope
