#include "decode/time_field.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/time_text.h"

namespace kafscope {

namespace {

constexpr int64_t kSecondsBound = 100'000'000'000;
constexpr int64_t kMillisecondsBound = kSecondsBound * 1000;
constexpr int64_t kMicrosecondsBound = kMillisecondsBound * 1000;

TimeUnit UnitByMagnitude(double magnitude) {
  if (magnitude < static_cast<double>(kSecondsBound)) return TimeUnit::kSeconds;
  if (magnitude < static_cast<double>(kMillisecondsBound)) return TimeUnit::kMilliseconds;
  if (magnitude < static_cast<double>(kMicrosecondsBound)) return TimeUnit::kMicroseconds;
  return TimeUnit::kNanoseconds;
}

int64_t NanosecondsOf(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds: return 1'000'000'000;
    case TimeUnit::kMilliseconds: return 1'000'000;
    case TimeUnit::kMicroseconds: return 1'000;
    default: return 1;
  }
}

}  // namespace

std::string_view TimeUnitName(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kAuto: return "auto";
    case TimeUnit::kSeconds: return "s";
    case TimeUnit::kMilliseconds: return "ms";
    case TimeUnit::kMicroseconds: return "us";
    case TimeUnit::kNanoseconds: return "ns";
    case TimeUnit::kRfc3339: return "rfc3339";
  }
  return "auto";
}

std::optional<int64_t> ToNanoseconds(int64_t value, TimeUnit unit, TimeUnit* chosen) {
  if (unit == TimeUnit::kAuto) unit = UnitByMagnitude(std::fabs(static_cast<double>(value)));
  *chosen = unit;
  int64_t result = 0;
  if (__builtin_mul_overflow(value, NanosecondsOf(unit), &result)) return std::nullopt;
  return result;
}

std::optional<int64_t> TimeField::Read(FrameBuilder& builder) {
  if (column_ == nullptr || builder_ != &builder || generation_ != builder.generation()) {
    builder_ = &builder;
    generation_ = builder.generation();
    column_ = builder.FindColumn(options_.time_field);
    if (column_ == nullptr) return std::nullopt;
  }
  if (!column_->HasValue()) return std::nullopt;
  const ColumnData& data = column_->open_data();
  const uint32_t row = builder.num_rows();
  if (options_.time_unit == TimeUnit::kRfc3339 && data.type != DataType::kString && data.type != DataType::kTime) {
    return std::nullopt;
  }
  switch (data.type) {
    case DataType::kTime: return data.Int64(row);
    case DataType::kInt64: return ToNanoseconds(data.Int64(row), options_.time_unit, &chosen_);
    case DataType::kUint64: return std::nullopt;  // beyond int64 in every unit
    case DataType::kFloat64: return FromDouble(data.Float64(row));
    case DataType::kString: return FromText(column_->OpenText());
    default: return std::nullopt;
  }
}

std::optional<int64_t> TimeField::FromDouble(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  const TimeUnit unit = options_.time_unit == TimeUnit::kAuto ? UnitByMagnitude(std::fabs(value)) : options_.time_unit;
  const double whole = std::floor(value);
  if (whole < -9.2e18 || whole > 9.2e18) return std::nullopt;
  // A double of seconds holds about a quarter of a microsecond: the fraction is taken to the microsecond there.
  const int64_t unit_nanos = NanosecondsOf(unit);
  const int64_t step = unit == TimeUnit::kSeconds ? 1000 : 1;
  const auto fraction =
      static_cast<int64_t>(std::llround((value - whole) * static_cast<double>(unit_nanos / step))) * step;
  const std::optional<int64_t> base = ToNanoseconds(static_cast<int64_t>(whole), unit, &chosen_);
  int64_t result = 0;
  if (!base.has_value() || __builtin_add_overflow(*base, fraction, &result)) return std::nullopt;
  return result;
}

std::optional<int64_t> TimeField::FromText(std::string_view text) {
  if (options_.time_unit == TimeUnit::kAuto || options_.time_unit == TimeUnit::kRfc3339) {
    if (const auto time = ParseRfc3339(text); time.has_value()) {
      chosen_ = TimeUnit::kRfc3339;
      return time;
    }
    if (options_.time_unit == TimeUnit::kRfc3339) return std::nullopt;
  }
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, integer); error == std::errc() && stop == end) {
    return ToNanoseconds(integer, options_.time_unit, &chosen_);
  }
  double number = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, number); error == std::errc() && stop == end) {
    return FromDouble(number);
  }
  return std::nullopt;
}

std::string TimeField::note() const {
  if (!wanted() || options_.time_unit != TimeUnit::kAuto || chosen_ == TimeUnit::kAuto) return {};
  return "time field '" + options_.time_field + "': unit " + std::string(TimeUnitName(chosen_)) + " (found by auto)";
}

}  // namespace kafscope
