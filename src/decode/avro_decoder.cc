#include "decode/avro_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/perf_switches.h"

namespace kafscope {
namespace {

constexpr std::string_view kSingleObjectMark = "\xc3\x01";
constexpr size_t kSingleObjectPrefix = 10;  // mark and fingerprint

AvroCursor CursorOf(std::string_view bytes) {
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  return {begin, begin + bytes.size()};
}

std::string RefText(const SchemaRef& ref) { return ref.by_guid ? ref.GuidText() : std::to_string(ref.id); }

bool IsSingleObject(std::string_view payload, uint64_t fingerprint) {
  if (payload.size() < kSingleObjectPrefix || !payload.starts_with(kSingleObjectMark)) return false;
  uint64_t written = 0;
  std::memcpy(&written, payload.data() + kSingleObjectMark.size(), sizeof written);  // little endian
  return written == fingerprint;
}

}  // namespace

size_t AvroEngine::SchemaRefHash::operator()(const SchemaRef& ref) const {
  if (!ref.by_guid) return static_cast<size_t>(static_cast<uint32_t>(ref.id));
  uint64_t low = 0;
  std::memcpy(&low, ref.guid.data(), sizeof low);
  return low;
}

Result<std::unique_ptr<AvroEngine>> AvroEngine::Make(const DecodeOptions& options, ValueScope scope) {
  const bool key = scope.role == FieldRole::kKey;
  const SchemaSource& source = key ? options.key_schema : options.value_schema;
  const std::string option = key ? "--key-schema" : "--schema";
  std::unique_ptr<AvroEngine> engine(new AvroEngine(options, scope, source));
  if (!source.text.empty()) {
    auto schema = AvroSchema::Parse(source.text);
    if (!schema) {
      return Fail(schema.error().WithContext(source.file_name.empty() ? option : option + " " + source.file_name));
    }
    engine->inline_schema_ = *std::move(schema);
    if (engine->framing_ == Framing::kDefault) engine->framing_ = Framing::kNone;
    return engine;
  }
  if (!source.descriptor_set.empty()) return Fail(Status::InvalidArgument(option + ": a .desc file is for Protobuf"));
  if (options.schemas == nullptr) {
    return Fail(Status::InvalidArgument("Avro needs " + option + " FILE.avsc or --registry URL"));
  }
  if (engine->framing_ == Framing::kNone) {
    return Fail(Status::InvalidArgument("--framing none needs " + option + ": nothing else names the schema"));
  }
  engine->framing_ = Framing::kConfluent;
  return engine;
}

AvroEngine::AvroEngine(const DecodeOptions& options, ValueScope scope, const SchemaSource& source)
    : options_(options),
      framing_(options.framing),
      inline_text_(source.text),
      names_(scope),
      max_plans_(PerfCacheEntries("AVRO_CODEC_CACHE")) {}

void AvroEngine::Attach(FrameBuilder& builder) {
  // Columns are added between rows, so AbortRow() never takes them: another builder is the only reason to begin anew.
  if (builder_ == &builder) return;
  builder_ = &builder;
  plans_.clear();
  last_plan_ = nullptr;
  inline_plan_ = {};
}

void AvroEngine::Compile(Result<std::shared_ptr<const AvroSchema>> schema, CachedPlan* to) {
  Status status;
  if (schema) {
    AvroPlan::Options options;
    options.max_depth = options_.max_depth;
    options.root_arm_prefix = names_.scope().role == FieldRole::kKey ? "" : std::string(names_.scope().scalar) + ".";
    options.column = [this](const std::string& path) {
      return path.empty() ? names_.Scalar(*builder_) : names_.FindOrAdd(*builder_, path, path);
    };
    auto plan = AvroPlan::Compile(*std::move(schema), options);
    if (plan) {
      to->plan = *std::move(plan);
      return;
    }
    status = plan.error();
  } else {
    status = schema.error();
  }
  to->error_text = status.message();
  to->error = {ErrorReason::kInvalidSchema, 0, to->error_text};
}

void AvroEngine::CompileRegistered(const RegisteredSchema& schema, CachedPlan* to) {
  if (schema.type != SchemaType::kAvro) {
    to->error_text = "schema " + std::to_string(schema.id) + " of the registry is not an Avro schema";
    to->error = {ErrorReason::kInvalidSchema, 0, to->error_text};
    return;
  }
  std::vector<std::string_view> references;
  for (const RegisteredSchema::Reference& reference : schema.references) references.push_back(reference.text);
  Compile(AvroSchema::Parse(schema.text, references), to);
}

AvroEngine::Readiness AvroEngine::Refuse(ErrorReason reason, std::string_view text) {
  error_ = {reason, 0, text};
  return Readiness::kFailed;
}

AvroEngine::Readiness AvroEngine::Use(CachedPlan& cached, std::string_view body) {
  if (cached.plan == nullptr) [[unlikely]] {
    error_ = cached.error;
    return Readiness::kFailed;
  }
  plan_ = cached.plan.get();
  body_ = body;
  plan_->Prepare(CursorOf(body), state_);
  return Readiness::kReady;
}

AvroEngine::CachedPlan* AvroEngine::Insert(const SchemaRef& ref) {
  if (plans_.size() >= max_plans_) {
    const auto oldest = std::min_element(plans_.begin(), plans_.end(), [](const auto& a, const auto& b) {
      return a.second.last_used < b.second.last_used;
    });
    plans_.erase(oldest);
  }
  return &plans_[ref];
}

// Makes last_plan_ the plan of `ref`.
AvroEngine::Readiness AvroEngine::FindPlan(const SchemaRef& ref) {
  const bool cache = !PerfDisabled(PerfSwitch::kAvroCodecCache);
  if (last_plan_ != nullptr && last_ref_ == ref && cache) [[likely]]
    return Readiness::kReady;
  if (const auto known = plans_.find(ref); known != plans_.end() && cache) {
    last_plan_ = &known->second;
  } else {
    const SchemaStore::Answer answer =
        ref.by_guid ? options_.schemas->FindByGuid(ref.GuidText()) : options_.schemas->Find(ref.id);
    if (answer.state == SchemaStore::State::kPending) return Readiness::kWaiting;
    if (answer.state == SchemaStore::State::kFailed) {
      error_text_ = "schema " + RefText(ref) + ": " + std::string(answer.error.message());
      const bool unknown = answer.error.code() == StatusCode::kNotFound;
      return Refuse(unknown ? ErrorReason::kUnknownSchema : ErrorReason::kRegistryUnavailable, error_text_);
    }
    last_plan_ = known != plans_.end() ? &known->second : Insert(ref);
    *last_plan_ = {};
    CompileRegistered(*answer.schema, last_plan_);
  }
  last_plan_->last_used = ++uses_;
  last_ref_ = ref;
  return Readiness::kReady;
}

AvroEngine::Readiness AvroEngine::PrepareFramed(const ConsumerRecord& record, std::string_view payload) {
  const SchemaSide side = names_.scope().role == FieldRole::kKey ? SchemaSide::kKey : SchemaSide::kValue;
  FramedPayload framed;
  const WireFault fault = Unframe(record.headers, payload, side, &framed);
  if (fault != WireFault::kNone) [[unlikely]] {
    if (fault == WireFault::kEmpty) return Refuse(ErrorReason::kEmptyValue, WireFaultText(fault));
    if (fault != WireFault::kNotFramed) return Refuse(ErrorReason::kNotFramed, WireFaultText(fault));
    return Refuse(ErrorReason::kNotFramed, NotFramedText(static_cast<uint8_t>(payload[0])));
  }
  prefix_size_ = payload.size() - framed.payload.size();
  if (inline_schema_ != nullptr) return Use(inline_plan_, framed.payload);
  if (const Readiness readiness = FindPlan(framed.schema); readiness != Readiness::kReady) return readiness;
  return Use(*last_plan_, framed.payload);
}

// With a schema at hand, framing is found out by what decodes to the last byte.
AvroEngine::Readiness AvroEngine::PrepareAuto(const ConsumerRecord& record, std::string_view payload) {
  if (inline_plan_.plan == nullptr) return Use(inline_plan_, payload);
  ++auto_framed_;
  if (IsSingleObject(payload, inline_schema_->Fingerprint())) {
    prefix_size_ = kSingleObjectPrefix;
    return Use(inline_plan_, payload.substr(kSingleObjectPrefix));
  }
  const SchemaSide side = names_.scope().role == FieldRole::kKey ? SchemaSide::kKey : SchemaSide::kValue;
  FramedPayload framed;
  if (Unframe(record.headers, payload, side, &framed) == WireFault::kNone &&
      inline_plan_.plan->Check(CursorOf(framed.payload), state_) == AvroFault::kNone) {
    prefix_size_ = payload.size() - framed.payload.size();
    return Use(inline_plan_, framed.payload);
  }
  --auto_framed_;
  ++auto_unframed_;
  return Use(inline_plan_, payload);
}

AvroEngine::Readiness AvroEngine::PrepareInline(const ConsumerRecord& record, std::string_view payload) {
  if (PerfDisabled(PerfSwitch::kAvroCodecCache)) {
    inline_plan_ = {};
    Compile(AvroSchema::Parse(inline_text_), &inline_plan_);
  } else if (inline_plan_.plan == nullptr && inline_plan_.error.ok()) {
    Compile(inline_schema_, &inline_plan_);
  }
  if (framing_ == Framing::kNone) return Use(inline_plan_, payload);
  if (framing_ == Framing::kAuto) return PrepareAuto(record, payload);
  return PrepareFramed(record, payload);
}

AvroEngine::Readiness AvroEngine::Prepare(const ConsumerRecord& record, std::string_view payload) {
  error_ = {};
  prefix_size_ = 0;
  return inline_schema_ != nullptr ? PrepareInline(record, payload) : PrepareFramed(record, payload);
}

DecodeError AvroEngine::RunPlan(DecodeCounters& counters) {
  AvroCursor cursor = CursorOf(body_);
  const uint8_t* begin = cursor.at;
  const AvroFault fault = plan_->Run(cursor, state_);
  if (state_.replaced_utf8 > 0) [[unlikely]] {
    counters.replaced_utf8 += state_.replaced_utf8;
    state_.replaced_utf8 = 0;
  }
  if (fault == AvroFault::kNone) [[likely]]
    return {};
  return AvroError(fault, prefix_size_ + static_cast<uint64_t>(cursor.at - begin));
}

bool AvroEngine::Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows) {
  switch (Prepare(record, payload)) {
    case Readiness::kWaiting: return false;
    case Readiness::kFailed: rows.Fail(error_); return true;
    case Readiness::kReady: break;
  }
  rows.Begin();
  const DecodeError error = RunPlan(rows.counters());
  if (error.ok()) [[likely]] {
    rows.Commit();
  } else {
    rows.Fail(error);
  }
  return true;
}

// A row that failed is written once more as an error row, with its key: the plan found by Waiting() still stands.
DecodeError AvroEngine::AppendTo(const ConsumerRecord&, std::string_view, FrameBuilder&, DecodeCounters& counters) {
  return error_.ok() ? RunPlan(counters) : error_;
}

std::vector<std::string> AvroEngine::notes() const {
  constexpr size_t kMaxIds = 10;
  std::vector<std::string> ids;
  for (const auto& [ref, plan] : plans_) ids.push_back(RefText(ref));
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> notes;
  if (!ids.empty()) {
    std::string text = ids.size() == 1 ? "schema id " : "schema ids ";
    for (size_t i = 0; i < std::min(ids.size(), kMaxIds); ++i) text += (i > 0 ? ", " : "") + ids[i];
    if (ids.size() > kMaxIds) text += " and " + std::to_string(ids.size() - kMaxIds) + " more";
    notes.push_back(std::move(text));
  }
  if (framing_ == Framing::kAuto && auto_framed_ + auto_unframed_ > 0) {
    notes.push_back("framing auto: " + std::to_string(auto_framed_) + " records framed, " +
                    std::to_string(auto_unframed_) + " not");
  }
  return notes;
}

}  // namespace kafscope
