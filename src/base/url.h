// Targets of HTTP requests: a path and its parameters, percent-encoded (RFC 3986, and '+' for a space in parameters).
// Cost: parsing allocates per parameter. Threads: free functions, safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace kafscope {

inline constexpr size_t kMaxTargetBytes = 256 * 1024;  // a schema may stand in the query
inline constexpr size_t kMaxParameters = 100;

struct Target {
  std::string path;                                             // decoded
  std::vector<std::pair<std::string, std::string>> parameters;  // decoded, in order

  // The last value of that name; nothing if there is none.
  std::optional<std::string> Find(std::string_view name) const;
};
// "/a%20b?x=1&y=a+b". Fails on bad escapes, NUL bytes, paths that do not begin with '/' and anything beyond the bounds.
Result<Target> ParseTarget(std::string_view text);
// Undoes %XX (and '+' where `plus_is_space`); nothing for a bad escape.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace kafscope
