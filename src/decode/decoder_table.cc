// The explicit table of formats: a new one is one line here and one in CMakeLists.txt.
#include <array>

#include "decode/avro_decoder.h"
#include "decode/decoder.h"
#include "decode/engine_decoder.h"
#include "decode/json_decoder.h"
#include "decode/line_protocol_decoder.h"
#include "decode/plaintext_decoder.h"
#include "decode/protobuf_decoder.h"

namespace kafscope {

namespace {

const std::array kDecoders = {
    DecoderEntry{Format::kJson, "json", "one JSON text a record", &MakeEngineDecoder<JsonEngine>},
    DecoderEntry{Format::kLineProtocol, "lineprotocol", "InfluxDB line protocol, one or more lines a record",
                 &MakeEngineDecoder<LineProtocolEngine>},
    DecoderEntry{Format::kPlaintext, "plaintext", "one text a record", &MakeEngineDecoder<PlaintextEngine>},
    DecoderEntry{Format::kAvro, "avro", "one Avro value a record, by its schema (--schema or --registry)",
                 &MakeEngineDecoder<AvroEngine>},
    DecoderEntry{Format::kProtobuf, "protobuf", "one Protobuf message a record, by its schema (--schema or --registry)",
                 &MakeEngineDecoder<ProtobufEngine>},
};

}  // namespace

std::span<const DecoderEntry> DecoderTable() { return kDecoders; }

const DecoderEntry* FindDecoder(std::string_view name) {
  for (const DecoderEntry& entry : kDecoders) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Result<std::unique_ptr<Decoder>> MakeDecoder(const DecodeOptions& options) {
  for (const DecoderEntry& entry : kDecoders) {
    if (entry.format == options.format) return entry.make(options);
  }
  return Fail(Status::Unsupported("--format: this format is not built in"));
}

}  // namespace kafscope
