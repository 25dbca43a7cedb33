#include "decode/plaintext_decoder.h"

#include "base/base64.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

void AppendHex(std::string_view bytes, Column& column) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  char* out = column.BeginString(2 * bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    out[2 * i] = kDigits[byte >> 4];
    out[2 * i + 1] = kDigits[byte & 15];
  }
  column.EndString(2 * bytes.size());
}

void AppendReplaced(std::string_view bytes, Column& column, DecodeCounters& counters) {
  char* out = column.BeginString(MaxReplacedUtf8Size(bytes.size()));
  size_t replacements = 0;
  const char* end = ReplaceInvalidUtf8(bytes, out, &replacements);
  column.EndString(static_cast<size_t>(end - out));
  ++counters.replaced_utf8;
}

}  // namespace

Result<std::unique_ptr<PlaintextEngine>> PlaintextEngine::Make(const DecodeOptions& options, ValueScope scope) {
  return std::unique_ptr<PlaintextEngine>(new PlaintextEngine(options.text, scope.role));
}

bool PlaintextEngine::Decode(const ConsumerRecord&, std::string_view payload, RowWriter& rows) {
  rows.Begin();
  if (column_ != nullptr) {  // null: --max-fields 0
    switch (mode_) {
      case TextMode::kUtf8:
        if (IsValidUtf8(payload)) {
          column_->AppendString(payload);
        } else {
          AppendReplaced(payload, *column_, rows.counters());
        }
        break;
      case TextMode::kHex: AppendHex(payload, *column_); break;
      case TextMode::kBase64: {
        const size_t size = Base64Size(payload.size());
        WriteBase64(payload, column_->BeginString(size));
        column_->EndString(size);
        break;
      }
    }
  }
  rows.Commit();
  return true;
}

}  // namespace kafscope
