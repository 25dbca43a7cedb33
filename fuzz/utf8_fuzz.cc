// UTF-8: the quick checks and replacements equal the state machine of the WHATWG Encoding Standard, byte by byte.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace {

struct Slow {
  std::string replaced;
  size_t replacements = 0;
  size_t valid_prefix = 0;
};

// https://encoding.spec.whatwg.org/#utf-8-decoder
Slow DecodeSlowly(std::string_view bytes) {
  Slow out;
  unsigned needed = 0;
  unsigned lower = 0x80;
  unsigned upper = 0xbf;
  std::string pending;
  const auto bad = [&out, &pending, &needed, &lower, &upper] {
    out.replaced += "\xef\xbf\xbd";
    ++out.replacements;
    pending.clear();
    needed = 0;
    lower = 0x80;
    upper = 0xbf;
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (needed > 0 && (byte < lower || byte > upper)) bad();  // and the byte is looked at anew
    if (needed == 0) {
      if (byte < 0x80) {
        out.replaced += bytes[i];
      } else if (byte >= 0xc2 && byte <= 0xf4) {
        needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        if (byte == 0xe0) lower = 0xa0;
        if (byte == 0xed) upper = 0x9f;
        if (byte == 0xf0) lower = 0x90;
        if (byte == 0xf4) upper = 0x8f;
        pending = bytes[i];
      } else {
        bad();
      }
    } else {
      lower = 0x80;
      upper = 0xbf;
      pending += bytes[i];
      if (--needed == 0) {
        out.replaced += pending;
        pending.clear();
      }
    }
    if (out.replacements == 0 && needed == 0) out.valid_prefix = i + 1;
  }
  if (needed > 0) bad();
  return out;
}

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Not a std::string's own bytes: reading beyond the end shows.
  const std::vector<char> bytes(data, data + size);
  const std::string_view text(bytes.data(), bytes.size());
  const Slow slow = DecodeSlowly(text);
  Require(kafscope::ValidUtf8Prefix(text) == slow.valid_prefix, "valid prefix");
  Require(kafscope::IsValidUtf8(text) == (slow.replacements == 0), "validity");
  std::string out = "before";
  Require(kafscope::AppendReplacedUtf8(text, &out) == slow.replacements, "replacements");
  Require(out == "before" + slow.replaced, "text");
  std::vector<char> room(kafscope::MaxReplacedUtf8Size(size));
  size_t count = 0;
  const char* end = kafscope::ReplaceInvalidUtf8(text, room.data(), &count);
  Require(std::string_view(room.data(), static_cast<size_t>(end - room.data())) == slow.replaced, "text in place");
  return 0;
}
