// AvroEngine: Avro records as rows, each by the schema it was written with.
//
// The schema is `--schema FILE.avsc`, or the registry's by the id or GUID of the record's header or prefix
// (schema/wire_format.h). Framing: `none` with a schema given, `confluent` with a registry, `auto` only when asked:
// then a value is taken as framed if it has a header or a prefix (00 + id, or the single-object mark C3 01 +
// fingerprint) and the rest is a whole value of the schema. Compiled plans are kept by id, least recently used out
// first (KAFSCOPE_PERF_AVRO_CODEC_CACHE_MAX_ENTRIES). Cost: no allocation per record once its plan is warm. Threads:
// the consume thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "decode/avro_plan.h"
#include "decode/column_names.h"
#include "decode/decode_options.h"
#include "decode/row_writer.h"
#include "schema/schema_store.h"
#include "schema/wire_format.h"

namespace kafscope {

class AvroEngine {
 public:
  static Result<std::unique_ptr<AvroEngine>> Make(const DecodeOptions& options, ValueScope scope);

  void Attach(FrameBuilder& builder);
  bool Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows);
  std::vector<std::string> notes() const;

  // --- as a key's decoder (EngineKeyDecoder) ---
  // Looks for the schema of this key; true while it is being fetched. REQUIRES: no open row.
  bool Waiting(const ConsumerRecord& record, std::string_view payload) {
    return Prepare(record, payload) == Readiness::kWaiting;
  }
  // Writes into the open row. REQUIRES: Waiting() was false for this payload.
  DecodeError AppendTo(const ConsumerRecord& record, std::string_view payload, FrameBuilder& builder,
                       DecodeCounters& counters);

 private:
  enum class Readiness : uint8_t { kReady, kWaiting, kFailed };
  struct CachedPlan {
    std::unique_ptr<AvroPlan> plan;  // null: `error` says why
    DecodeError error;
    std::string error_text;
    uint64_t last_used = 0;
  };
  struct SchemaRefHash {
    size_t operator()(const SchemaRef& ref) const;
  };

  AvroEngine(const DecodeOptions& options, ValueScope scope, const SchemaSource& source);

  // Finds plan_, body_ and prefix_size_ of this value, or error_.
  Readiness Prepare(const ConsumerRecord& record, std::string_view payload);
  Readiness PrepareInline(const ConsumerRecord& record, std::string_view payload);
  Readiness PrepareAuto(const ConsumerRecord& record, std::string_view payload);
  Readiness PrepareFramed(const ConsumerRecord& record, std::string_view payload);
  Readiness FindPlan(const SchemaRef& ref);
  Readiness Use(CachedPlan& cached, std::string_view body);
  Readiness Refuse(ErrorReason reason, std::string_view text);
  void Compile(Result<std::shared_ptr<const AvroSchema>> schema, CachedPlan* to);
  void CompileRegistered(const RegisteredSchema& schema, CachedPlan* to);
  CachedPlan* Insert(const SchemaRef& ref);
  DecodeError RunPlan(DecodeCounters& counters);

  const DecodeOptions& options_;
  Framing framing_;
  std::string inline_text_;                          // for the performance switch
  std::shared_ptr<const AvroSchema> inline_schema_;  // null: from the registry
  CachedPlan inline_plan_;
  ColumnNames names_;
  FrameBuilder* builder_ = nullptr;

  std::unordered_map<SchemaRef, CachedPlan, SchemaRefHash> plans_;
  SchemaRef last_ref_;
  CachedPlan* last_plan_ = nullptr;
  uint64_t uses_ = 0;
  size_t max_plans_;

  // Of the value at hand.
  AvroPlan* plan_ = nullptr;
  std::string_view body_;
  size_t prefix_size_ = 0;
  DecodeError error_;
  std::string error_text_;

  AvroTextState state_;
  uint64_t auto_framed_ = 0;
  uint64_t auto_unframed_ = 0;
};

}  // namespace kafscope
