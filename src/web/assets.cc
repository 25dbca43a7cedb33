#include "web/assets.h"

#include <algorithm>

namespace kafscope {

const Asset* FindAsset(std::string_view path) {
  const std::span<const Asset> assets = Assets();
  const auto found = std::ranges::find(assets, path, &Asset::path);
  return found == assets.end() ? nullptr : &*found;
}

}  // namespace kafscope
