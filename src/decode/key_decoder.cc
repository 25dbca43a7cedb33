#include "decode/key_decoder.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "decode/avro_decoder.h"
#include "decode/engine_decoder.h"
#include "decode/header_columns.h"
#include "decode/json_decoder.h"
#include "decode/protobuf_decoder.h"

namespace kafscope {

namespace {

constexpr std::string_view kKeyColumn = "key";

// `string` (base64 where it is not UTF-8) and `base64`.
class TextKeyDecoder final : public KeyDecoder {
 public:
  explicit TextKeyDecoder(bool base64) : base64_(base64) {}

  void Attach(FrameBuilder& builder) override { column_ = builder.FindOrAddColumn(kKeyColumn, FieldRole::kKey); }
  DecodeError Append(const ConsumerRecord& record, FrameBuilder&, DecodeCounters&) override {
    if (!base64_ && IsValidUtf8(record.key)) {
      column_->AppendString(record.key);
      return {};
    }
    const size_t size = Base64Size(record.key.size());
    WriteBase64(record.key, column_->BeginString(size));
    column_->EndString(size);
    return {};
  }

 private:
  bool base64_;
  Column* column_ = nullptr;
};

// Big-endian signed integers of 4 or 8 bytes, as Kafka's own serialisers write them.
class IntKeyDecoder final : public KeyDecoder {
 public:
  void Attach(FrameBuilder& builder) override { column_ = builder.FindOrAddColumn(kKeyColumn, FieldRole::kKey); }
  DecodeError Append(const ConsumerRecord& record, FrameBuilder&, DecodeCounters&) override {
    if (record.key.size() != sizeof(int32_t) && record.key.size() != sizeof(int64_t)) {
      return {ErrorReason::kInvalidKey, 0, "key format int wants 4 or 8 bytes"};
    }
    uint64_t value = 0;
    for (const char byte : record.key) value = value << 8 | static_cast<uint8_t>(byte);
    column_->AppendInt64(record.key.size() == sizeof(int32_t) ? static_cast<int32_t>(static_cast<uint32_t>(value))
                                                              : static_cast<int64_t>(value));
    return {};
  }

 private:
  Column* column_ = nullptr;
};

template <typename Engine>
Result<std::unique_ptr<KeyDecoder>> MakeEngineKey(const DecodeOptions& options) {
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Engine> engine, Engine::Make(options, ValueScope::Key()));
  return std::make_unique<EngineKeyDecoder<Engine>>(std::move(engine));
}

}  // namespace

Result<std::unique_ptr<KeyDecoder>> MakeKeyDecoder(const DecodeOptions& options) {
  switch (options.key_format) {
    case KeyFormat::kNone: return nullptr;
    case KeyFormat::kString: return std::make_unique<TextKeyDecoder>(false);
    case KeyFormat::kBase64: return std::make_unique<TextKeyDecoder>(true);
    case KeyFormat::kInt: return std::make_unique<IntKeyDecoder>();
    case KeyFormat::kJson: return MakeEngineKey<JsonEngine>(options);
    case KeyFormat::kAvro: return MakeEngineKey<AvroEngine>(options);
    case KeyFormat::kProtobuf: return MakeEngineKey<ProtobufEngine>(options);
  }
  return Fail(Status::Internal("no such key format"));
}

}  // namespace kafscope
