// ProtobufEngine: Protobuf messages as rows.
//
// The schema is `--schema FILE.proto|FILE.desc`, or the registry's by the id or GUID of the record's header or prefix
// (schema/wire_format.h); the message type is `--message`, else that of the message indexes behind the prefix, else the
// first of the file. With neither schema nor registry the fields are guessed (protobuf_raw.h). Framing: `none` with a
// schema given and for guesses, `confluent` with a registry; `auto` takes a value that begins with 00 as framed, which
// no Protobuf message does. Compiled schemas are kept by id, least recently used out first
// (KAFSCOPE_PERF_PROTOBUF_SCHEMA_CACHE_MAX_ENTRIES).
// Cost: no allocation per record once its plan is warm. Threads: the consume thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "decode/column_names.h"
#include "decode/decode_options.h"
#include "decode/protobuf_plan.h"
#include "decode/protobuf_raw.h"
#include "decode/row_writer.h"
#include "schema/protobuf_schema.h"
#include "schema/schema_store.h"
#include "schema/wire_format.h"

namespace kafscope {

class ProtobufEngine {
 public:
  static Result<std::unique_ptr<ProtobufEngine>> Make(const DecodeOptions& options, ValueScope scope);

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
  struct CachedSchema {
    std::shared_ptr<const ProtobufSchema> schema;                       // null: `error` says why
    std::unordered_map<uint32_t, std::unique_ptr<ProtobufPlan>> plans;  // by message
    uint32_t message = ProtobufSchema::kNoMessage;                      // of --message, if given
    std::string error;
    uint64_t last_used = 0;
  };
  struct SchemaRefHash {
    size_t operator()(const SchemaRef& ref) const;
  };

  ProtobufEngine(const DecodeOptions& options, ValueScope scope, const SchemaSource& source);

  // Finds plan_ (null: guess), body_ and prefix_size_ of this value, or error_.
  Readiness Prepare(const ConsumerRecord& record, std::string_view payload);
  Readiness PrepareFramed(const ConsumerRecord& record, std::string_view payload);
  Readiness FindSchema(const SchemaRef& ref);
  Readiness FindPlan(CachedSchema& cached, std::string_view* indexes);
  Readiness UsePlan(CachedSchema& cached, uint32_t message);
  Readiness Refuse(ErrorReason reason, std::string_view text);
  void Compile(const ProtobufSource& source, CachedSchema* to);
  void CompileInline();
  DecodeError RunPlan(FrameBuilder& builder, DecodeCounters& counters);

  const DecodeOptions& options_;
  const SchemaSource& source_;
  Framing framing_;
  ColumnNames names_;
  FrameBuilder* builder_ = nullptr;

  std::unique_ptr<CachedSchema> inline_;  // null: from the registry, or guessed
  std::unordered_map<SchemaRef, CachedSchema, SchemaRefHash> schemas_;
  SchemaRef last_ref_;
  CachedSchema* last_schema_ = nullptr;
  uint64_t uses_ = 0;
  size_t max_schemas_;
  bool cache_;
  std::unique_ptr<ProtobufRaw> raw_;  // null unless there is neither schema nor registry

  // Of the value at hand.
  ProtobufPlan* plan_ = nullptr;
  std::string_view body_;
  size_t prefix_size_ = 0;
  DecodeError error_;
  std::string error_text_;
};

}  // namespace kafscope
