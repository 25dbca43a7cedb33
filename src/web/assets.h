// The page's files, embedded in the program. Without a built page (ui/dist) there is a placeholder only.
// Threads: constant data.
#pragma once

#include <span>
#include <string_view>

namespace kafscope {

struct Asset {
  std::string_view path;  // "/index.html"
  std::string_view content_type;
  std::string_view content;
};

std::span<const Asset> Assets();
const Asset* FindAsset(std::string_view path);

}  // namespace kafscope
