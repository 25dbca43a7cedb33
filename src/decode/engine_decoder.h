// EngineDecoder<Engine>: the loop over records around a payload engine (row_writer.h). The engine's calls are resolved
// at compile time; the one virtual call is Decoder::Decode(), once a poll.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode/decoder.h"
#include "decode/key_decoder.h"
#include "decode/row_writer.h"

namespace kafscope {

template <typename Engine>
class EngineDecoder final : public Decoder {
 public:
  // `options` is the one that `engine` was made with.
  EngineDecoder(std::unique_ptr<const DecodeOptions> options, std::unique_ptr<Engine> engine,
                std::unique_ptr<KeyDecoder> key)
      : options_(std::move(options)), engine_(std::move(engine)), rows_(*options_, std::move(key), counters_) {}

  size_t Decode(std::span<const ConsumerRecord> records, int64_t arrival_ns, FrameBuilder& builder) override {
    waiting_ = false;
    size_t taken = 0;
    for (; taken < records.size() && !builder.Full(); ++taken) {
      const ConsumerRecord& record = records[taken];
      if (builder_ != &builder || generation_ != builder.generation()) Attach(builder);
      rows_.StartRecord(record, arrival_ns);
      if (rows_.KeyWaiting()) {
        waiting_ = true;
        break;
      }
      if (!record.has_value) {
        ++counters_.tombstones;
        rows_.Begin();
        rows_.Commit();
      } else if (!engine_->Decode(record, record.value, rows_)) {
        waiting_ = true;
        break;
      }
      ++counters_.records;
      ++builder.stats().records;
      counters_.payload_bytes += record.value.size();
      builder.stats().payload_bytes += record.value.size();
      builder.AddBytes(record.value.size() + record.key.size());
    }
    counters_.fields_cut = builder.fields_cut();
    return taken;
  }

  bool waiting() const override { return waiting_; }
  const DecodeCounters& counters() const override { return counters_; }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = engine_->notes();
    for (std::string& note : rows_.notes()) notes.push_back(std::move(note));
    return notes;
  }

 private:
  void Attach(FrameBuilder& builder) {
    builder_ = &builder;
    generation_ = builder.generation();
    rows_.Attach(builder);
    engine_->Attach(builder);
  }

  std::unique_ptr<const DecodeOptions> options_;
  DecodeCounters counters_;
  std::unique_ptr<Engine> engine_;
  RowWriter rows_;
  FrameBuilder* builder_ = nullptr;
  uint64_t generation_ = 0;
  bool waiting_ = false;
};

// For the decoder table.
template <typename Engine>
Result<std::unique_ptr<Decoder>> MakeEngineDecoder(const DecodeOptions& options) {
  auto own = std::make_unique<const DecodeOptions>(options);
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Engine> engine, Engine::Make(*own, ValueScope::Value()));
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<KeyDecoder> key, MakeKeyDecoder(*own));
  return std::make_unique<EngineDecoder<Engine>>(std::move(own), std::move(engine), std::move(key));
}

// A key decoded by an engine that writes single rows through `DecodeError AppendTo(payload, builder, counters)` and
// tells `bool Waiting(record, payload)` of schemas on their way.
template <typename Engine>
class EngineKeyDecoder final : public KeyDecoder {
 public:
  explicit EngineKeyDecoder(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  void Attach(FrameBuilder& builder) override { engine_->Attach(builder); }
  bool Waiting(const ConsumerRecord& record) override { return engine_->Waiting(record, record.key); }
  DecodeError Append(const ConsumerRecord& record, FrameBuilder& builder, DecodeCounters& counters) override {
    return engine_->AppendTo(record, record.key, builder, counters);
  }
  std::vector<std::string> notes() const override { return engine_->notes(); }

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace kafscope
