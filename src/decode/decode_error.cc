#include "decode/decode_error.h"

#include "base/number_format.h"

namespace kafscope {

std::string_view ErrorReasonName(ErrorReason reason) {
  switch (reason) {
    case ErrorReason::kNone: return "none";
    case ErrorReason::kInvalidJson: return "invalid_json";
    case ErrorReason::kInvalidUtf8: return "invalid_utf8";
    case ErrorReason::kEmptyValue: return "empty_value";
    case ErrorReason::kTruncated: return "truncated";
    case ErrorReason::kTrailingBytes: return "trailing_bytes";
    case ErrorReason::kInvalidValue: return "invalid_value";
    case ErrorReason::kTooDeep: return "too_deep";
    case ErrorReason::kTooLarge: return "too_large";
    case ErrorReason::kNotFramed: return "not_framed";
    case ErrorReason::kUnknownSchema: return "unknown_schema";
    case ErrorReason::kInvalidSchema: return "invalid_schema";
    case ErrorReason::kRegistryUnavailable: return "registry_unavailable";
    case ErrorReason::kInvalidLine: return "invalid_line";
    case ErrorReason::kInvalidKey: return "invalid_key";
  }
  return "none";
}

std::string DecodeError::ToString() const {
  std::string out(ErrorReasonName(reason));
  out.append(reason == ErrorReason::kInvalidLine ? " at line " : " at byte ");
  AppendUint64(position, &out);
  out.append(": ").append(text);
  return out;
}

}  // namespace kafscope
