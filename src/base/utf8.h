// UTF-8: is it valid, and what to put where it is not.
//
// Invalid bytes become one U+FFFD per maximal subpart (Unicode 3.9, best practice; as Python and WHATWG do).
// Cost: ASCII runs go 16 bytes at a time; nothing allocates but the append form's string. Threads: free functions,
// safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kafscope {

// Length of the valid prefix; text.size() if all of it is valid.
size_t ValidUtf8Prefix(std::string_view text);
inline bool IsValidUtf8(std::string_view text) { return ValidUtf8Prefix(text) == text.size(); }

// Bytes that ReplaceInvalidUtf8() may write at most: each bad byte may become three.
constexpr size_t MaxReplacedUtf8Size(size_t size) { return 3 * size; }
// Writes `text` with its invalid parts replaced; gives the end of what was written. `replacements` is the number of
// U+FFFD put in. REQUIRES: room for MaxReplacedUtf8Size(text.size()).
char* ReplaceInvalidUtf8(std::string_view text, char* out, size_t* replacements);
// The same into a string, at its end; gives the number of replacements.
size_t AppendReplacedUtf8(std::string_view text, std::string* out);

}  // namespace kafscope
