// Base64 (RFC 4648, standard alphabet, with padding).
// Cost: one pass; the append form does not allocate beyond the string's growth. Threads: free functions, safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kafscope {

constexpr size_t Base64Size(size_t bytes) { return (bytes + 2) / 3 * 4; }
// Writes exactly Base64Size(bytes.size()) characters to `out`.
void WriteBase64(std::string_view bytes, char* out);
std::string ToBase64(std::string_view bytes);
// False if `text` is not base64; padding may be missing. `out` is replaced.
bool FromBase64(std::string_view text, std::string* out);

}  // namespace kafscope
