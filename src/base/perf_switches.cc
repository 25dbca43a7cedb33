#include "base/perf_switches.h"

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>

namespace kafscope {

namespace {

constexpr std::array kSwitches = {
    PerfSwitchInfo{PerfSwitch::kAvroCodecCache, "AVRO_CODEC_CACHE", "each Avro record compiles its writer schema anew",
                   false},
    PerfSwitchInfo{PerfSwitch::kProtobufSchemaCache, "PROTOBUF_SCHEMA_CACHE",
                   "each Protobuf record compiles its message's plan anew", false},
    PerfSwitchInfo{PerfSwitch::kFieldOrderCache, "FIELD_ORDER_CACHE",
                   "each frame works out the order of its columns anew", false},
    PerfSwitchInfo{PerfSwitch::kStreamMicrobatch, "STREAM_MICROBATCH", "each row is a frame of its own", true},
    PerfSwitchInfo{PerfSwitch::kKeyPrediction, "KEY_PREDICTION",
                   "each JSON key is looked up in a hash table instead of compared with the one expected", false},
    PerfSwitchInfo{PerfSwitch::kTagsetCache, "TAGSET_CACHE",
                   "each line of line protocol parses its measurement and tags anew", false},
    PerfSwitchInfo{PerfSwitch::kFramePool, "FRAME_POOL", "each frame allocates its buffers anew", false},
    PerfSwitchInfo{PerfSwitch::kShortDoubles, "SHORT_DOUBLES",
                   "each double is written by the general shortest-digits algorithm", false},
};

using Flags = std::array<std::atomic<bool>, kSwitches.size()>;

const char* Lookup(std::string_view prefix, std::string_view name) {
  return std::getenv((std::string(prefix) + std::string(name)).c_str());
}

bool Set(std::string_view name) {
  const char* value = Lookup("KAFSCOPE_PERF_DISABLE_", name);
  if (value == nullptr) value = Lookup("GF_PLUGIN_PERF_DISABLE_", name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

Flags& DisabledFlags() {
  static Flags flags;
  static const bool read = [] {
    for (const PerfSwitchInfo& info : kSwitches) flags[static_cast<size_t>(info.id)] = Set(info.name);
    return true;
  }();
  static_cast<void>(read);
  return flags;
}

}  // namespace

std::span<const PerfSwitchInfo> PerfSwitches() { return kSwitches; }

bool PerfDisabled(PerfSwitch id) { return DisabledFlags()[static_cast<size_t>(id)].load(std::memory_order_relaxed); }

size_t PerfCacheEntries(std::string_view name) {
  constexpr size_t kDefault = 256;
  constexpr size_t kMost = 65536;
  const std::string suffix = std::string(name) + "_MAX_ENTRIES";
  const char* value = Lookup("KAFSCOPE_PERF_", suffix);
  if (value == nullptr) value = Lookup("GF_PLUGIN_PERF_", suffix);
  if (value == nullptr) return kDefault;
  const std::string_view text(value);
  size_t entries = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), entries);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return whole && entries >= 1 && entries <= kMost ? entries : kDefault;
}

ScopedPerfSwitch::ScopedPerfSwitch(PerfSwitch id, bool disabled)
    : id_(id), before_(DisabledFlags()[static_cast<size_t>(id)].exchange(disabled)) {}

ScopedPerfSwitch::~ScopedPerfSwitch() { DisabledFlags()[static_cast<size_t>(id_)] = before_; }

}  // namespace kafscope
