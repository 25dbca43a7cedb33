#include "decode/line_protocol_decoder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/number_format.h"
#include "base/perf_switches.h"
#include "decode/time_field.h"
#include "frame/widen.h"

namespace kafscope {

namespace {

using Kind = LineProtocolParser::Kind;

bool IsReserved(std::string_view tag, bool is_long) {
  static constexpr std::string_view kWide[] = {"measurement"};
  static constexpr std::string_view kLong[] = {"Time", "_measurement", "_field", "value", "value_str"};
  if (IsMetadataName(tag)) return true;
  return is_long ? std::find(std::begin(kLong), std::end(kLong), tag) != std::end(kLong)
                 : std::find(std::begin(kWide), std::end(kWide), tag) != std::end(kWide);
}

}  // namespace

struct LineProtocolEngine::SeriesPlan : LineProtocolParser::Plan {
  bool keep = true;
  std::vector<std::pair<Column*, std::string_view>> tags;
};

struct LineProtocolEngine::FieldPlan : LineProtocolParser::Plan {
  bool keep = true;
  Column* column = nullptr;  // wide; null beyond the field cap
};

Result<std::unique_ptr<LineProtocolEngine>> LineProtocolEngine::Make(const DecodeOptions& options, ValueScope) {
  KAFSCOPE_ASSIGN_OR_FAIL(LineFilter filter, LineFilter::Make(options));
  return std::unique_ptr<LineProtocolEngine>(
      new LineProtocolEngine(options, std::move(filter), !PerfDisabled(PerfSwitch::kTagsetCache)));
}

LineProtocolEngine::LineProtocolEngine(const DecodeOptions& options, LineFilter filter, bool remember)
    : options_(options), filter_(std::move(filter)), parser_(remember), names_(ValueScope::Value()) {}

void LineProtocolEngine::Attach(FrameBuilder& builder) {
  builder_ = &builder;
  parser_.DropPlans();
  measurement_ = builder.FindOrAddColumn(is_long() ? "_measurement" : "measurement", FieldRole::kValue);
  if (!is_long()) return;
  field_ = builder.FindOrAddColumn("_field", FieldRole::kValue);
  value_ = builder.FindOrAddColumn("value", FieldRole::kValue);
  text_ = builder.FindOrAddColumn("value_str", FieldRole::kValue);
}

Column* LineProtocolEngine::TagColumn(const std::string& key) {
  const std::string name = IsReserved(key, is_long()) ? "tag_" + key : key;
  return names_.FindOrAdd(*builder_, name, "tag " + key);
}

LineProtocolEngine::SeriesPlan& LineProtocolEngine::PlanOf(LineProtocolParser::Series& series) {
  if (series.plan == nullptr) {
    auto plan = std::make_unique<SeriesPlan>();
    plan->keep = filter_.KeepsSeries(series.measurement, series.tags);
    for (const LineProtocolParser::Tag& tag : series.tags) {
      if (!plan->keep) break;
      Column* column = TagColumn(tag.key);
      if (column != nullptr) plan->tags.emplace_back(column, tag.value);
    }
    series.plan = std::move(plan);
  }
  return static_cast<SeriesPlan&>(*series.plan);
}

LineProtocolEngine::FieldPlan& LineProtocolEngine::PlanOf(LineProtocolParser::FieldName& name) {
  if (name.plan == nullptr) {
    auto plan = std::make_unique<FieldPlan>();
    plan->keep = filter_.KeepsField(name.name);
    if (plan->keep && !is_long()) {
      // ColumnNames does the same for the names that every format has.
      const std::string column = name.name == "measurement" ? "value.measurement" : name.name;
      plan->column = names_.FindOrAdd(*builder_, column, "field " + name.name);
    }
    name.plan = std::move(plan);
  }
  return static_cast<FieldPlan&>(*name.plan);
}

bool LineProtocolEngine::Decode(const ConsumerRecord&, std::string_view payload, RowWriter& rows) {
  if (payload.empty()) {
    rows.Fail({ErrorReason::kEmptyValue, 1, "no line"});
    return true;
  }
  parser_.Start(payload);
  bool any = false;
  for (auto item = parser_.Next(); item != LineProtocolParser::Item::kEnd; item = parser_.Next()) {
    any = true;
    if (item == LineProtocolParser::Item::kError) {
      rows.Fail(parser_.error());
    } else if (!WritePoint(rows)) {
      rows.Fail(parser_.PointError("the timestamp is out of range in its unit"));
    }
  }
  if (!any) ++rows.counters().filtered;
  return true;
}

bool LineProtocolEngine::WritePoint(RowWriter& rows) {
  int64_t time = 0;
  if (parser_.has_time()) {
    TimeUnit chosen = options_.line_precision;
    const auto nanoseconds = ToNanoseconds(parser_.time(), options_.line_precision, &chosen);
    if (!nanoseconds.has_value()) return false;
    time = *nanoseconds;
    if (options_.line_precision == TimeUnit::kAuto) units_seen_ |= 1u << static_cast<unsigned>(chosen);
  }
  const SeriesPlan& plan = PlanOf(parser_.series());
  if (!plan.keep) {
    rows.counters().filtered += is_long() ? parser_.values().size() : 1;
    return true;
  }
  const int64_t* own_time = parser_.has_time() ? &time : nullptr;
  if (is_long()) {
    WriteLong(plan, own_time, rows);
  } else {
    WriteWide(plan, own_time, rows);
  }
  return true;
}

void LineProtocolEngine::WriteWide(const SeriesPlan& plan, const int64_t* time, RowWriter& rows) {
  const auto keeps = [this](const LineProtocolParser::Value& value) { return PlanOf(*value.name).keep; };
  const auto values = parser_.values();
  if (std::none_of(values.begin(), values.end(), keeps)) {
    ++rows.counters().filtered;
    return;
  }
  rows.Begin();
  if (time != nullptr) rows.SetTime(*time);
  WriteSeries(plan, 1);
  for (const LineProtocolParser::Value& value : values) {
    const FieldPlan& field = PlanOf(*value.name);
    if (!field.keep || field.column == nullptr) continue;
    if (field.column->HasValue()) ++rows.counters().duplicate_keys;
    AppendWide(field.column, value);
  }
  rows.Commit();
}

void LineProtocolEngine::AppendWide(Column* column, const LineProtocolParser::Value& value) const {
  switch (value.kind) {
    case Kind::kFloat: return column->AppendFloat64(value.number);
    case Kind::kInt: return column->AppendInt64(value.integer);
    case Kind::kUint: return column->AppendUint64(value.unsigned_integer);
    case Kind::kBool: return column->AppendBool(value.boolean);
    case Kind::kText: return column->AppendString(value.text);
  }
}

void LineProtocolEngine::WriteLong(const SeriesPlan& plan, const int64_t* time, RowWriter& rows) {
  const bool all = filter_.keeps_all_fields();
  auto kept = static_cast<uint32_t>(parser_.values().size());
  for (const LineProtocolParser::Value& value : parser_.values()) {
    if (!all && !PlanOf(*value.name).keep) --kept;
  }
  rows.counters().filtered += parser_.values().size() - kept;
  if (kept == 0) return;
  // The rows of a point share all but field and value, unless keys or headers go with each.
  const bool run = rows.BeginRun(kept, time);
  if (run) WriteSeries(plan, kept);
  for (const LineProtocolParser::Value& value : parser_.values()) {
    if (!all && !PlanOf(*value.name).keep) continue;
    if (!run) {
      rows.Begin();
      if (time != nullptr) rows.SetTime(*time);
      WriteSeries(plan, 1);
    }
    field_->AppendStringPadded(value.name->name.data(), value.name->name.size());
    AppendLong(value);
    if (run) {
      rows.NextRow();
    } else {
      rows.Commit();
    }
  }
  if (run) rows.EndRun(kept);
}

void LineProtocolEngine::WriteSeries(const SeriesPlan& plan, uint32_t rows) {
  measurement_->AppendStringRun(parser_.series().measurement, rows);
  for (const auto& [column, text] : plan.tags) column->AppendStringRun(text, rows);
}

void LineProtocolEngine::AppendLong(const LineProtocolParser::Value& value) const {
  switch (value.kind) {
    case Kind::kFloat: return value_->AppendFloat64(value.number);
    case Kind::kBool: return value_->AppendFloat64(value.boolean ? 1 : 0);
    case Kind::kText: return text_->AppendString(value.text);
    case Kind::kInt:
      if (!IsWide(value.integer)) return value_->AppendFloat64(static_cast<double>(value.integer));
      break;
    case Kind::kUint:
      if (!IsWide(value.unsigned_integer)) return value_->AppendFloat64(static_cast<double>(value.unsigned_integer));
      break;
  }
  char digits[kMaxIntegerSize];
  const char* end =
      value.kind == Kind::kInt ? WriteInt64(value.integer, digits) : WriteUint64(value.unsigned_integer, digits);
  text_->AppendString({digits, end});
}

std::vector<std::string> LineProtocolEngine::notes() const {
  std::string units;
  for (const TimeUnit unit :
       {TimeUnit::kSeconds, TimeUnit::kMilliseconds, TimeUnit::kMicroseconds, TimeUnit::kNanoseconds}) {
    if ((units_seen_ >> static_cast<unsigned>(unit) & 1) == 0) continue;
    if (!units.empty()) units += ", ";
    units += TimeUnitName(unit);
  }
  if (units.empty()) return {};
  return {"line protocol timestamps: unit " + units + " (auto)"};
}

}  // namespace kafscope
