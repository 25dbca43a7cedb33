// Numbers as decimal text, exact: integers with all digits, doubles in the shortest form that reads back the same.
//
// Cost: about 2 ns for a small integer, 5 ns for a double of few decimals, 30 ns for one of 17 digits. No allocation.
// Threads: free functions, safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kafscope {

inline constexpr size_t kMaxIntegerSize = 20;  // -9223372036854775808, 18446744073709551615
inline constexpr size_t kMaxDoubleSize = 32;   // more than the longest text: the fast path writes beyond its end

// Each writes at `out` and gives the end of the text. REQUIRES: room for the size above.
char* WriteUint64(uint64_t value, char* out);
char* WriteInt64(int64_t value, char* out);
// As Go's encoding/json: 1.5, 3 (not 3.0), -0, 1e-7, 1e+21. REQUIRES: a finite value.
char* WriteDouble(double value, char* out);
// The same without the fast path for integers and short decimals (PerfSwitch::kShortDoubles).
char* WriteDoubleSlow(double value, char* out);

void AppendUint64(uint64_t value, std::string* out);
void AppendInt64(int64_t value, std::string* out);
void AppendDouble(double value, std::string* out);

}  // namespace kafscope
