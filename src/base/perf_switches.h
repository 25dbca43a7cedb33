// The table of performance switches: each turns one optimisation off, so that every claim of speed can be repeated.
//
// KAFSCOPE_PERF_DISABLE_<NAME>=1 in the environment (or GF_PLUGIN_PERF_DISABLE_<NAME>, since Grafana passes no host
// environment to plugins). Unset, empty or 0: fast. Read once, at the first question. With a switch set, rows, values,
// types and order stay the same; bytes too, except where the table says that frame borders move.
// Threads: safe. Cost: one load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kafscope {

enum class PerfSwitch : uint8_t {
  kAvroCodecCache,
  kProtobufSchemaCache,
  kFieldOrderCache,
  kStreamMicrobatch,
  kKeyPrediction,
  kTagsetCache,
  kFramePool,
  kShortDoubles,
};

struct PerfSwitchInfo {
  PerfSwitch id;
  std::string_view name;        // AVRO_CODEC_CACHE
  std::string_view reverts_to;  // what happens without the idea
  bool moves_frame_borders;
};

std::span<const PerfSwitchInfo> PerfSwitches();
bool PerfDisabled(PerfSwitch id);

// Entries of a cache of compiled schemas: KAFSCOPE_PERF_<NAME>_MAX_ENTRIES, 256 unless set to a number from 1 to 65536.
size_t PerfCacheEntries(std::string_view name);

// Turns a switch for the life of this object. For tests and benchmarks: not while pipelines run.
class ScopedPerfSwitch {
 public:
  ScopedPerfSwitch(PerfSwitch id, bool disabled);
  ~ScopedPerfSwitch();
  ScopedPerfSwitch(const ScopedPerfSwitch&) = delete;
  ScopedPerfSwitch& operator=(const ScopedPerfSwitch&) = delete;

 private:
  PerfSwitch id_;
  bool before_;
};

}  // namespace kafscope
