// GrafanaJsonEncoder: a Frame as Grafana's frame JSON, the text that Grafana Live carries.
//
//   {"schema":{"name":"n","refId":"A","fields":[
//      {"name":"time","type":"time","typeInfo":{"frame":"time.Time","nullable":true}}, …]},
//    "data":{"values":[[1700000000000],[null]],"entities":[null,{"NaN":[0]}],"nanos":[[123456],null]}}
//
// Times are milliseconds, their rest stands in `nanos`; NaN and infinities are null with their rows in `entities`; both
// keys are left out when no column needs them. Integers have all their digits; see WideIntegers for those that a
// browser would round. Bytes are base64. A column without any value yet is one of strings.
//
// Cost: the type switch is outside of the row loop; values are written unchecked into room for the worst case, then
// copied once to `out`. No allocation once warm. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "encode/frame_encoder.h"
#include "encode/text_buffer.h"

namespace kafscope {

// What becomes of an integer column that held a value beyond ±2^53, which JavaScript's numbers cannot hold.
enum class WideIntegers : uint8_t {
  kText,    // a column of strings from then on: no digit is lost in the browser
  kNumber,  // JSON integers with all digits, as Grafana's own SDK writes them
};

struct GrafanaJsonOptions {
  WideIntegers wide_integers = WideIntegers::kText;
  std::string name = {};    // of the frame; left out when empty
  std::string ref_id = {};  // of the query; left out when empty
};

class GrafanaJsonEncoder final : public FrameEncoder {
 public:
  explicit GrafanaJsonEncoder(GrafanaJsonOptions options = {});

  // Appends schema and data, without a line end.
  void Encode(const Frame& frame, std::string* out) override;
  // The two halves for Live: `{"schema":{…}}` when the schema is new to a channel, `{"data":{…}}` afterwards.
  void EncodeSchema(const std::shared_ptr<const Schema>& schema, std::string* out);
  void EncodeData(const Frame& frame, std::string* out);

 private:
  // The text of one field's values; notes whether `entities` or `nanos` need it.
  void WriteColumn(const ColumnData& column, bool as_text, size_t rows);
  void WriteLongText(const ColumnData& column, size_t rows);
  void WriteData(const Frame& frame);
  void WriteEntities(const Frame& frame);
  void WriteNanos(const Frame& frame);
  void UseSchema(const std::shared_ptr<const Schema>& schema);
  bool IsText(const Field& field) const;

  GrafanaJsonOptions options_;
  std::shared_ptr<const Schema> schema_;
  std::string schema_json_;  // `"schema":{…}` of schema_
  TextBuffer text_;
  bool has_entities_ = false;
  bool has_nanos_ = false;
};

}  // namespace kafscope
