#include "decode/protobuf_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/perf_switches.h"

namespace kafscope {

namespace {

std::string RefText(const SchemaRef& ref) { return ref.by_guid ? ref.GuidText() : std::to_string(ref.id); }

DecodeError ErrorOf(ProtobufFault fault, uint64_t position) {
  switch (fault) {
    case ProtobufFault::kNone: return {};
    case ProtobufFault::kMalformed:
      return {ErrorReason::kTruncated, position, "the value is cut off or its varint too long"};
    case ProtobufFault::kBadWireType: return {ErrorReason::kInvalidValue, position, "no such wire type"};
    case ProtobufFault::kBadTag: return {ErrorReason::kInvalidValue, position, "not a field tag"};
    case ProtobufFault::kBadGroup:
      return {ErrorReason::kInvalidValue, position, "a group's start and end do not match"};
    case ProtobufFault::kTooDeep: return {ErrorReason::kTooDeep, position, "messages nested deeper than 100"};
    case ProtobufFault::kInvalidUtf8: return {ErrorReason::kInvalidUtf8, position, "a proto3 string that is not UTF-8"};
    case ProtobufFault::kBadTimestamp:
      return {ErrorReason::kInvalidValue, position, "a Timestamp outside of years 1 to 9999"};
    case ProtobufFault::kBadDuration: return {ErrorReason::kInvalidValue, position, "a Duration outside of its range"};
    case ProtobufFault::kTooLarge: return {ErrorReason::kTooLarge, position, "JSON text of more than 32 MiB"};
  }
  return {};
}

ProtobufSource SourceOf(const SchemaSource& given) {
  ProtobufSource source;
  source.text = given.text;
  source.descriptor_set = given.descriptor_set;
  source.include_dirs = given.include_dirs;
  if (!given.file_name.empty()) source.file_name = given.file_name;
  return source;
}

}  // namespace

size_t ProtobufEngine::SchemaRefHash::operator()(const SchemaRef& ref) const {
  if (!ref.by_guid) return static_cast<size_t>(static_cast<uint32_t>(ref.id));
  uint64_t low = 0;
  std::memcpy(&low, ref.guid.data(), sizeof low);
  return low;
}

Result<std::unique_ptr<ProtobufEngine>> ProtobufEngine::Make(const DecodeOptions& options, ValueScope scope) {
  const bool key = scope.role == FieldRole::kKey;
  const SchemaSource& source = key ? options.key_schema : options.value_schema;
  std::unique_ptr<ProtobufEngine> engine(new ProtobufEngine(options, scope, source));
  if (!source.empty()) {
    engine->CompileInline();
    if (engine->inline_->schema == nullptr) {
      return Fail(Status::InvalidArgument(std::string(key ? "--key-schema: " : "--schema: ") + engine->inline_->error));
    }
    if (engine->framing_ == Framing::kDefault) engine->framing_ = Framing::kNone;
    return engine;
  }
  if (options.schemas == nullptr) {
    if (!source.message.empty()) {
      return Fail(Status::InvalidArgument("--message needs --schema FILE.proto or --registry URL"));
    }
    engine->raw_ = std::make_unique<ProtobufRaw>(scope, options.max_depth);
    if (engine->framing_ == Framing::kDefault) engine->framing_ = Framing::kNone;
    return engine;
  }
  if (engine->framing_ == Framing::kNone) {
    return Fail(Status::InvalidArgument("--framing none needs --schema: nothing else names the schema"));
  }
  engine->framing_ = Framing::kConfluent;
  return engine;
}

ProtobufEngine::ProtobufEngine(const DecodeOptions& options, ValueScope scope, const SchemaSource& source)
    : options_(options),
      source_(source),
      framing_(options.framing),
      names_(scope),
      max_schemas_(PerfCacheEntries("PROTOBUF_SCHEMA_CACHE")),
      cache_(!PerfDisabled(PerfSwitch::kProtobufSchemaCache)) {}

void ProtobufEngine::Attach(FrameBuilder& builder) {
  // Columns of recursive types are added within rows: an aborted row may have taken them back.
  builder_ = &builder;
  for (auto& [ref, cached] : schemas_) cached.plans.clear();
  if (inline_ != nullptr) inline_->plans.clear();
  if (raw_ != nullptr) raw_->Attach(builder);
  plan_ = nullptr;
}

void ProtobufEngine::Compile(const ProtobufSource& source, CachedSchema* to) {
  auto schema = ProtobufSchema::Compile(source);
  if (!schema) {
    to->error = schema.error().message();
    return;
  }
  if (!source_.message.empty()) {
    const auto message = (*schema)->FindMessage(source_.message);
    if (!message) {
      to->error = "--message: " + std::string(message.error().message());
      return;
    }
    to->message = *message;
  } else if ((*schema)->names().empty()) {
    to->error = "the schema has no message type";
    return;
  }
  to->schema = *std::move(schema);
}

void ProtobufEngine::CompileInline() {
  inline_ = std::make_unique<CachedSchema>();
  Compile(SourceOf(source_), inline_.get());
}

ProtobufEngine::Readiness ProtobufEngine::Refuse(ErrorReason reason, std::string_view text) {
  error_ = {reason, 0, text};
  return Readiness::kFailed;
}

// Makes last_schema_ the schema of `ref`.
ProtobufEngine::Readiness ProtobufEngine::FindSchema(const SchemaRef& ref) {
  if (last_schema_ != nullptr && last_ref_ == ref && cache_) [[likely]]
    return Readiness::kReady;
  if (const auto known = schemas_.find(ref); known != schemas_.end() && cache_) {
    last_schema_ = &known->second;
  } else {
    const SchemaStore::Answer answer =
        ref.by_guid ? options_.schemas->FindByGuid(ref.GuidText()) : options_.schemas->Find(ref.id);
    if (answer.state == SchemaStore::State::kPending) return Readiness::kWaiting;
    if (answer.state == SchemaStore::State::kFailed) {
      error_text_ = "schema " + RefText(ref) + ": " + std::string(answer.error.message());
      const bool unknown = answer.error.code() == StatusCode::kNotFound;
      return Refuse(unknown ? ErrorReason::kUnknownSchema : ErrorReason::kRegistryUnavailable, error_text_);
    }
    if (known == schemas_.end() && schemas_.size() >= max_schemas_) {
      schemas_.erase(std::min_element(schemas_.begin(), schemas_.end(), [](const auto& a, const auto& b) {
        return a.second.last_used < b.second.last_used;
      }));
    }
    last_schema_ = &schemas_[ref];
    *last_schema_ = {};
    if (answer.schema->type == SchemaType::kProtobuf) {
      ProtobufSource source;
      source.text = answer.schema->text;
      for (const auto& reference : answer.schema->references)
        source.imports.push_back({reference.name, reference.text});
      Compile(source, last_schema_);
    } else {
      last_schema_->error = "is not a Protobuf schema";
    }
    if (!last_schema_->error.empty()) last_schema_->error = "schema " + RefText(ref) + ": " + last_schema_->error;
  }
  last_schema_->last_used = ++uses_;
  last_ref_ = ref;
  return Readiness::kReady;
}

ProtobufEngine::Readiness ProtobufEngine::UsePlan(CachedSchema& cached, uint32_t message) {
  std::unique_ptr<ProtobufPlan>& plan = cached.plans[message];
  if (plan == nullptr) {
    ProtobufPlan::Options options;
    options.max_depth = options_.max_depth;
    options.predict = !PerfDisabled(PerfSwitch::kFieldOrderCache);
    options.column = [this](const std::string& path) { return names_.FindOrAdd(*builder_, path, path); };
    plan = ProtobufPlan::Compile(cached.schema, message, std::move(options));
  }
  plan_ = plan.get();
  return Readiness::kReady;
}

// The plan of the message that `*indexes` name; they are skipped. Null: there are none.
ProtobufEngine::Readiness ProtobufEngine::FindPlan(CachedSchema& cached, std::string_view* indexes) {
  if (cached.schema == nullptr) return Refuse(ErrorReason::kInvalidSchema, cached.error);
  MessageIndexes path;
  const bool first = indexes == nullptr || (!indexes->empty() && indexes->front() == 0);
  if (indexes != nullptr) {
    if (first) {
      indexes->remove_prefix(1);
    } else if (const WireFault fault = ReadMessageIndexes(*indexes, &path, indexes); fault != WireFault::kNone) {
      return Refuse(ErrorReason::kNotFramed, WireFaultText(fault));
    }
  }
  if (cached.message != ProtobufSchema::kNoMessage) return UsePlan(cached, cached.message);
  const Result<uint32_t> message = first ? cached.schema->FindMessage("") : cached.schema->FindByPath(path.path());
  if (!message) {
    error_text_ = message.error().message();
    return Refuse(ErrorReason::kNotFramed, error_text_);
  }
  return UsePlan(cached, *message);
}

ProtobufEngine::Readiness ProtobufEngine::PrepareFramed(const ConsumerRecord& record, std::string_view payload) {
  const SchemaSide side = names_.scope().role == FieldRole::kKey ? SchemaSide::kKey : SchemaSide::kValue;
  FramedPayload framed;
  const WireFault fault = Unframe(record.headers, payload, side, &framed);
  if (fault != WireFault::kNone) [[unlikely]] {
    if (fault == WireFault::kEmpty) return Refuse(ErrorReason::kEmptyValue, WireFaultText(fault));
    if (fault != WireFault::kNotFramed) return Refuse(ErrorReason::kNotFramed, WireFaultText(fault));
    return Refuse(ErrorReason::kNotFramed, NotFramedText(static_cast<uint8_t>(payload[0])));
  }
  std::string_view* indexes = framed.from_header ? &framed.header_rest : &framed.payload;
  // A header may name the schema alone: then it means the first message.
  if (framed.from_header && indexes->empty()) indexes = nullptr;
  if (raw_ != nullptr) {
    MessageIndexes ignored;
    if (indexes != nullptr && ReadMessageIndexes(*indexes, &ignored, indexes) != WireFault::kNone) {
      return Refuse(ErrorReason::kNotFramed, WireFaultText(WireFault::kBadIndexes));
    }
  } else if (inline_ != nullptr) {
    if (const Readiness found = FindPlan(*inline_, indexes); found != Readiness::kReady) return found;
  } else {
    if (const Readiness found = FindSchema(framed.schema); found != Readiness::kReady) return found;
    if (const Readiness found = FindPlan(*last_schema_, indexes); found != Readiness::kReady) return found;
  }
  body_ = framed.payload;
  prefix_size_ = payload.size() - framed.payload.size();
  return Readiness::kReady;
}

ProtobufEngine::Readiness ProtobufEngine::Prepare(const ConsumerRecord& record, std::string_view payload) {
  error_ = {};
  if (inline_ != nullptr && !cache_) CompileInline();
  bool framed = framing_ == Framing::kConfluent;
  if (framing_ == Framing::kAuto) {
    // No message begins with 00: that would be the tag of field 0.
    const SchemaSide side = names_.scope().role == FieldRole::kKey ? SchemaSide::kKey : SchemaSide::kValue;
    FramedPayload ignored;
    framed = (payload.empty() || payload.front() != 0)
                 ? !record.headers.empty() && Unframe(record.headers, payload, side, &ignored) == WireFault::kNone &&
                       ignored.from_header
                 : true;
  }
  if (framed) return PrepareFramed(record, payload);
  body_ = payload;
  prefix_size_ = 0;
  return inline_ != nullptr ? FindPlan(*inline_, nullptr) : Readiness::kReady;
}

DecodeError ProtobufEngine::RunPlan(FrameBuilder& builder, DecodeCounters& counters) {
  if (raw_ != nullptr) {
    const ProtobufFault fault = raw_->Run(body_, builder);
    return fault == ProtobufFault::kNone ? DecodeError{} : ErrorOf(fault, prefix_size_ + raw_->fault_at());
  }
  const uint64_t unknown = plan_->unknown_fields();
  const uint64_t replaced = plan_->replaced_utf8();
  const ProtobufFault fault = plan_->Run(body_);
  counters.unknown_fields += plan_->unknown_fields() - unknown;
  counters.replaced_utf8 += plan_->replaced_utf8() - replaced;
  if (fault == ProtobufFault::kNone) [[likely]]
    return {};
  return ErrorOf(fault, prefix_size_ + plan_->fault_at());
}

bool ProtobufEngine::Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows) {
  switch (Prepare(record, payload)) {
    case Readiness::kWaiting: return false;
    case Readiness::kFailed: rows.Fail(error_); return true;
    case Readiness::kReady: break;
  }
  rows.Begin();
  const DecodeError error = RunPlan(rows.builder(), rows.counters());
  if (error.ok()) [[likely]] {
    rows.Commit();
  } else {
    rows.Fail(error);
  }
  return true;
}

// A row that failed is written once more as an error row, with its key. If it took columns back, the plan is gone.
DecodeError ProtobufEngine::AppendTo(const ConsumerRecord& record, std::string_view payload, FrameBuilder& builder,
                                     DecodeCounters& counters) {
  if (plan_ == nullptr && raw_ == nullptr && error_.ok() && Prepare(record, payload) == Readiness::kWaiting) {
    return {ErrorReason::kRegistryUnavailable, 0, "the key's schema is no longer at hand"};
  }
  if (!error_.ok()) return error_;
  const DecodeError error = RunPlan(builder, counters);
  if (!error.ok() && plan_ != nullptr) plan_->ClearRow();
  return error;
}

std::vector<std::string> ProtobufEngine::notes() const {
  constexpr size_t kMaxIds = 10;
  std::vector<std::string> notes;
  if (raw_ != nullptr) {
    notes.emplace_back("no schema: columns are field numbers, their types a guess; give --schema or --registry");
  }
  std::vector<std::string> ids;
  for (const auto& [ref, cached] : schemas_) ids.push_back(RefText(ref));
  std::sort(ids.begin(), ids.end());
  if (!ids.empty()) {
    std::string text = ids.size() == 1 ? "schema id " : "schema ids ";
    for (size_t i = 0; i < std::min(ids.size(), kMaxIds); ++i) text += (i > 0 ? ", " : "") + ids[i];
    if (ids.size() > kMaxIds) text += " and " + std::to_string(ids.size() - kMaxIds) + " more";
    notes.push_back(std::move(text));
  }
  return notes;
}

}  // namespace kafscope
