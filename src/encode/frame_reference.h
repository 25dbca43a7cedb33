// For tests and fuzz targets only: frames made of any bytes, and slow, obvious readings of a Frame to compare with.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "frame/frame_builder.h"

namespace kafscope {

// Builds a stream of frames as the bytes say: columns of every type, nulls, widenings, aborted rows, several frames.
std::vector<FramePtr> FramesFromBytes(std::span<const uint8_t> bytes);
// The same of random bytes.
std::vector<FramePtr> RandomFrames(uint32_t seed);

// Grafana's frame JSON of a frame, key by key; `wide_as_text` is WideIntegers::kText.
nlohmann::json ReferenceGrafanaJson(const Frame& frame, bool wide_as_text);
// One object a row, as `--json` prints it.
std::vector<nlohmann::ordered_json> ReferenceRows(const Frame& frame);

}  // namespace kafscope
