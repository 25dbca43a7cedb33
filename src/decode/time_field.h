// TimeField: the row's time from a value column (`--time-field`, `--time-unit`). Integer arithmetic only; nothing is
// rounded but what lies below a nanosecond.
//
// auto: RFC 3339 text, else by magnitude: below 1e11 seconds, below 1e14 milliseconds, below 1e17 microseconds, else
// nanoseconds. The unit that was chosen first is told in notes().
// Threads: the consume thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decode/decode_options.h"
#include "frame/frame_builder.h"

namespace kafscope {

// `value` of `unit` as nanoseconds; nothing if it lies outside of 1677…2262. kAuto chooses by magnitude and says so in
// `chosen`. REQUIRES: unit is not kRfc3339.
std::optional<int64_t> ToNanoseconds(int64_t value, TimeUnit unit, TimeUnit* chosen);
std::string_view TimeUnitName(TimeUnit unit);

class TimeField {
 public:
  explicit TimeField(const DecodeOptions& options) : options_(options) {}

  bool wanted() const { return options_.time_source == TimeSource::kField; }
  // The time in the open row's column; nothing if it holds none that can be read.
  std::optional<int64_t> Read(FrameBuilder& builder);
  // "time field 'ts': unit ms", once a value was read with unit auto.
  std::string note() const;

 private:
  std::optional<int64_t> FromText(std::string_view text);
  std::optional<int64_t> FromDouble(double value);

  const DecodeOptions& options_;
  Column* column_ = nullptr;
  FrameBuilder* builder_ = nullptr;
  uint64_t generation_ = 0;
  TimeUnit chosen_ = TimeUnit::kAuto;
};

}  // namespace kafscope
