// LineProtocolEngine: InfluxDB line protocol → rows, in one of two layouts.
//
//   wide   a row a point: time, measurement, a column a tag, a typed column a field
//   long   a row a field: Time, _measurement, _field, value (float64: numbers, booleans as 0 or 1), value_str (text,
//   and
//          integers beyond ±2^53), a column a tag, partition, offset; as grafana-kafka dashboards know it
//
// A tag named like another column of its layout gets the prefix `tag_`, a field `value.`. A point without timestamp has
// its record's time. A bad line gives one error row with its line number; the good lines of its record arrive. A record
// without points (blank lines, comments) gives no row and counts as filtered.
//
// Cost: parsing as line_protocol_parser.h says; columns and filters are looked up once a series and field name.
// Threads: the consume thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/column_names.h"
#include "decode/decode_options.h"
#include "decode/line_protocol_filter.h"
#include "decode/line_protocol_parser.h"
#include "decode/row_writer.h"

namespace kafscope {

class LineProtocolEngine {
 public:
  static Result<std::unique_ptr<LineProtocolEngine>> Make(const DecodeOptions& options, ValueScope scope);

  void Attach(FrameBuilder& builder);
  bool Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows);
  // The units that `auto` chose.
  std::vector<std::string> notes() const;

 private:
  struct SeriesPlan;
  struct FieldPlan;

  LineProtocolEngine(const DecodeOptions& options, LineFilter filter, bool remember);

  // The current point as rows; false (and nothing written) if its time is out of range.
  bool WritePoint(RowWriter& rows);
  void WriteWide(const SeriesPlan& plan, const int64_t* time, RowWriter& rows);
  void WriteLong(const SeriesPlan& plan, const int64_t* time, RowWriter& rows);
  // Measurement and tags of the current point into the open row and those after it, `rows` together.
  void WriteSeries(const SeriesPlan& plan, uint32_t rows);
  void AppendWide(Column* column, const LineProtocolParser::Value& value) const;
  void AppendLong(const LineProtocolParser::Value& value) const;

  SeriesPlan& PlanOf(LineProtocolParser::Series& series);
  FieldPlan& PlanOf(LineProtocolParser::FieldName& name);
  Column* TagColumn(const std::string& key);
  bool is_long() const { return options_.line_layout == LineLayout::kLong; }

  const DecodeOptions& options_;
  LineFilter filter_;
  LineProtocolParser parser_;
  ColumnNames names_;
  FrameBuilder* builder_ = nullptr;
  Column* measurement_ = nullptr;
  Column* field_ = nullptr;  // long
  Column* value_ = nullptr;  // long
  Column* text_ = nullptr;   // long: value_str
  uint32_t units_seen_ = 0;  // bits by TimeUnit, with precision auto
};

}  // namespace kafscope
