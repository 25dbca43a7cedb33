// Decoder: record bytes → rows of typed columns. One virtual call per poll; what is inside is compiled per format.
//
// Use: `while (!records.empty()) { n = decoder->Decode(records, builder); records = records.subspan(n); seal(); }`.
// Every record gives at least one row (an error row if need be) unless a filter drops it; both are counted.
// Cost: no allocation, lock, log or clock read per record once warm.
// Threads: the consume thread of its pipeline. Lifetime: must not outlive the builder it has written to first.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/decode_error.h"
#include "decode/decode_options.h"
#include "frame/frame_builder.h"
#include "source/record.h"

namespace kafscope {

struct DecodeCounters {
  uint64_t records = 0;
  uint64_t rows = 0;
  uint64_t payload_bytes = 0;
  uint64_t filtered = 0;  // rows that a filter of the query left out
  uint64_t tombstones = 0;
  uint64_t duplicate_keys = 0;                       // JSON
  uint64_t replaced_utf8 = 0;                        // texts in which U+FFFD stands for something
  uint64_t unknown_fields = 0;                       // Protobuf
  uint64_t fields_cut = 0;                           // beyond the field cap
  std::array<uint64_t, kErrorReasonCount> errors{};  // error rows by reason
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // Decodes records in order until all are done or builder.Full(); gives the number of records taken.
  // `arrival_ns` stands in for missing record timestamps. A return of 0 with !builder.Full() means waiting():
  // the first record needs a schema that is being fetched; call again when NextPoll (≈10 ms) comes round.
  virtual size_t Decode(std::span<const ConsumerRecord> records, int64_t arrival_ns, FrameBuilder& builder) = 0;
  virtual bool waiting() const { return false; }
  virtual const DecodeCounters& counters() const = 0;
  // What a viewer should know: the format and framing found by `auto`, a time unit chosen, a guess. Empty when nothing.
  virtual std::vector<std::string> notes() const { return {}; }
};

// The explicit table of formats: a new one is one line in decoder_table.cc.
struct DecoderEntry {
  Format format;
  std::string_view name;  // "json", as on the command line
  std::string_view help;  // one line
  Result<std::unique_ptr<Decoder>> (*make)(const DecodeOptions& options);
};
std::span<const DecoderEntry> DecoderTable();
const DecoderEntry* FindDecoder(std::string_view name);
// The decoder for options.format; a failure names the option to change.
Result<std::unique_ptr<Decoder>> MakeDecoder(const DecodeOptions& options);

}  // namespace kafscope
