#include "base/utf8.h"

#include <emmintrin.h>

#include <bit>
#include <cstring>

namespace kafscope {

namespace {

bool IsContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// What stands at the front of the bytes [p, end): `size` bytes of one valid character, or of one maximal subpart.
struct Step {
  uint8_t size;
  bool valid;
};

//   00…7f
//   c2…df 80…bf
//   e0 a0…bf 80…bf | e1…ec 80…bf 80…bf | ed 80…9f 80…bf | ee…ef 80…bf 80…bf
//   f0 90…bf 80…bf 80…bf | f1…f3 80…bf 80…bf 80…bf | f4 80…8f 80…bf 80…bf
Step Look(const uint8_t* p, const uint8_t* end) {
  const uint8_t lead = *p;
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const auto left = static_cast<size_t>(end - p);
  if (left < 2) return {1, false};
  if (lead < 0xe0) return IsContinuation(p[1]) ? Step{2, true} : Step{1, false};
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (p[1] < low || p[1] > high) return {1, false};
  if (left < 3 || !IsContinuation(p[2])) return {2, false};
  if (lead < 0xf0) return {3, true};
  if (left < 4 || !IsContinuation(p[3])) return {3, false};
  return {4, true};
}

// The first byte at or after `p` that is not ASCII, or `end`.
const uint8_t* SkipAscii(const uint8_t* p, const uint8_t* end) {
  for (; end - p >= 16; p += 16) {
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
    if (mask != 0) return p + std::countr_zero(mask);
  }
  if (end - p >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    word &= 0x8080808080808080;
    if (word != 0) return p + std::countr_zero(word) / 8;
    p += 8;
  }
  while (p < end && *p < 0x80) ++p;
  return p;
}

// The first byte at or after `p` that begins no valid character, or `end`.
const uint8_t* SkipValid(const uint8_t* p, const uint8_t* end) {
  while ((p = SkipAscii(p, end)) < end) {
    // Text that is not ASCII mostly stays so for a while.
    while (p < end && *p >= 0x80) {
      const Step step = Look(p, end);
      if (!step.valid) return p;
      p += step.size;
    }
  }
  return end;
}

}  // namespace

size_t ValidUtf8Prefix(std::string_view text) {
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  return static_cast<size_t>(SkipValid(begin, begin + text.size()) - begin);
}

char* ReplaceInvalidUtf8(std::string_view text, char* out, size_t* replacements) {
  const auto* p = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* end = p + text.size();
  *replacements = 0;
  while (p < end) {
    const uint8_t* bad = SkipValid(p, end);
    if (const auto good = static_cast<size_t>(bad - p); good > 0) {
      std::memcpy(out, p, good);
      out += good;
    }
    if (bad == end) break;
    std::memcpy(out, "\xef\xbf\xbd", 3);
    out += 3;
    ++*replacements;
    p = bad + Look(bad, end).size;
  }
  return out;
}

size_t AppendReplacedUtf8(std::string_view text, std::string* out) {
  const size_t valid = ValidUtf8Prefix(text);
  out->append(text.substr(0, valid));
  if (valid == text.size()) return 0;
  text.remove_prefix(valid);
  const size_t before = out->size();
  out->resize(before + MaxReplacedUtf8Size(text.size()));
  size_t replacements = 0;
  char* end = ReplaceInvalidUtf8(text, out->data() + before, &replacements);
  out->resize(static_cast<size_t>(end - out->data()));
  return replacements;
}

}  // namespace kafscope
