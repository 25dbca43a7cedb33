// Text as a JSON string: quotes, and escapes where JSON demands them; all other UTF-8 as it is.
//
// Cost: 16 bytes at a time where nothing is to escape. Threads: free functions, safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kafscope {

// Room that the writers need: six characters a byte, the quotes, and what a 16-byte store may write beyond the end.
constexpr size_t MaxJsonStringSize(size_t size) { return 6 * size + 2 + 16; }

// Writes `text` with its quotes; gives the end of it. REQUIRES: valid UTF-8, room for MaxJsonStringSize(text.size()).
char* WriteJsonString(std::string_view text, char* out);
// The same for text with at least 16 readable bytes behind it (any content), as a Frame's buffers have.
char* WriteJsonStringPadded(std::string_view text, char* out);
// Characters that the writers give for `text`, quotes included.
size_t JsonStringSize(std::string_view text);
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace kafscope
