#include "base/base64.h"

#include <array>
#include <cstdint>

namespace kafscope {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kInvalid = 0xff;

constexpr std::array<uint8_t, 256> MakeDecodeTable() {
  std::array<uint8_t, 256> table{};
  table.fill(kInvalid);
  for (size_t i = 0; i < kAlphabet.size(); ++i) table[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  return table;
}
constexpr std::array<uint8_t, 256> kDecode = MakeDecodeTable();

}  // namespace

void WriteBase64(std::string_view bytes, char* out) {
  const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 3; left -= 3, in += 3) {
    const uint32_t word = static_cast<uint32_t>(in[0]) << 16 | static_cast<uint32_t>(in[1]) << 8 | in[2];
    *out++ = kAlphabet[word >> 18];
    *out++ = kAlphabet[word >> 12 & 63];
    *out++ = kAlphabet[word >> 6 & 63];
    *out++ = kAlphabet[word & 63];
  }
  if (left == 0) return;
  const uint32_t word = static_cast<uint32_t>(in[0]) << 16 | (left == 2 ? static_cast<uint32_t>(in[1]) << 8 : 0);
  *out++ = kAlphabet[word >> 18];
  *out++ = kAlphabet[word >> 12 & 63];
  *out++ = left == 2 ? kAlphabet[word >> 6 & 63] : '=';
  *out = '=';
}

std::string ToBase64(std::string_view bytes) {
  std::string text(Base64Size(bytes.size()), '\0');
  WriteBase64(bytes, text.data());
  return text;
}

bool FromBase64(std::string_view text, std::string* out) {
  out->clear();
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  out->reserve(text.size() / 4 * 3 + 2);
  uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    const uint8_t value = kDecode[static_cast<uint8_t>(c)];
    if (value == kInvalid) return false;
    word = word << 6 | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out->push_back(static_cast<char>(word >> bits & 0xff));
  }
  return true;
}

}  // namespace kafscope
