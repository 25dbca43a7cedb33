// kafscope decode: what would Kafscope make of these bytes?
#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "base/base64.h"
#include "cli/command.h"
#include "cli/decode_flags.h"
#include "cli/row_output.h"
#include "decode/decoder.h"
#include "decode/row_writer.h"
#include "frame/frame_builder.h"
#include "pipeline/query_options.h"

namespace kafscope {

namespace {

struct DecodeCommand {
  DecodeFlags flags;
  OutputFlags output;
  std::string input = "raw";
  std::vector<std::string> files;
};

Result<std::string> ReadInput(const std::string& path) {
  if (path != "-") return ReadFile(path, "FILE", SIZE_MAX);
  std::string bytes(std::istreambuf_iterator<char>(std::cin), {});
  if (std::cin.bad()) return Fail(Status::Internal("cannot read standard input"));
  return bytes;
}

bool FromHex(std::string_view line, std::string* out) {
  int high = -1;
  for (const char c : line) {
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
      digit = (c | 0x20) - 'a' + 10;
    } else if (c == ' ' || c == '\r' || c == '\t') {
      continue;
    } else {
      return false;
    }
    if (high < 0) {
      high = digit;
    } else {
      out->push_back(static_cast<char>(high << 4 | digit));
      high = -1;
    }
  }
  return high < 0;
}

// Adds the record values of one input.
Status AddValues(const std::string& path, std::string bytes, const std::string& input,
                 std::vector<std::string>* values) {
  if (input == "raw") {
    values->push_back(std::move(bytes));
    return {};
  }
  size_t line_number = 0;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', begin), bytes.size());
    std::string_view line(bytes.data() + begin, end - begin);
    begin = end + 1;
    ++line_number;
    std::string value;
    bool good = true;
    if (input == "lines") {
      value = line;
    } else if (input == "hex") {
      good = FromHex(line, &value);
    } else {
      if (line.ends_with('\r')) line.remove_suffix(1);
      good = FromBase64(line, &value);
    }
    if (!good) {
      return Status::DataLoss((path == "-" ? "standard input" : path) + " line " + std::to_string(line_number) +
                              ": not " + (input == "hex" ? "hexadecimal digits" : "base64") + " (--input " + input +
                              ")");
    }
    values->push_back(std::move(value));
  }
  return {};
}

// Decodes all records; gives the frames, cut by rows and bytes only.
std::vector<FramePtr> DecodeAll(std::span<const ConsumerRecord> records, Decoder& decoder, FrameBuilder& builder) {
  static constexpr std::chrono::milliseconds kSchemaWait{10};
  std::vector<FramePtr> frames;
  while (!records.empty()) {
    const size_t taken = decoder.Decode(records, kNoTime, builder);
    records = records.subspan(taken);
    if (builder.Full() || records.empty()) frames.push_back(builder.Finish());
    if (decoder.waiting()) std::this_thread::sleep_for(kSchemaWait);
  }
  return frames;
}

int RunDecode(const DecodeCommand& command) {
  StreamQuery query;
  query.decode.partition_column = false;
  if (Status status = ApplyDecodeFlags(command.flags, &query); !status.ok()) return ReportFailure(status);
  if (query.decode.time_unit != TimeUnit::kAuto && query.decode.time_source != TimeSource::kField) {
    return ReportFailure(Status::InvalidArgument("--time-unit: needs --time-field"));
  }
  Result<RowOutput> output = RowOutput::Make(command.output);
  if (!output) return ReportFailure(output.error());

  FrameBuilder builder(query.BuilderOptions());
  Result<std::unique_ptr<Decoder>> decoder = MakeDecoder(query.decode);
  if (!decoder) return ReportFailure(decoder.error());

  std::vector<std::string> values;
  const std::vector<std::string> files = command.files.empty() ? std::vector<std::string>{"-"} : command.files;
  for (const std::string& path : files) {
    Result<std::string> bytes = ReadInput(path);
    if (!bytes) return ReportFailure(bytes.error());
    const Status status = AddValues(path, *std::move(bytes), command.input, &values);
    if (!status.ok()) return ReportFailure(status);
  }
  std::vector<ConsumerRecord> records(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    records[i].value = values[i];
    records[i].has_value = true;
    records[i].offset = static_cast<int64_t>(i);
  }

  std::vector<FramePtr> frames = DecodeAll(records, **decoder, builder);
  // An Arrow stream cannot change its schema. The builder has learnt the last one: decoding again gives all in it.
  if (output->wants_final_schema() && !frames.empty() &&
      frames.front()->schema().version() != frames.back()->schema().version()) {
    frames = DecodeAll(records, **decoder, builder);
  }
  uint64_t error_rows = 0;
  Status status;
  for (const FramePtr& frame : frames) {
    error_rows += frame->stats().error_rows;
    status = output->Write(*frame);
    if (!status.ok()) break;
  }
  if (status.ok()) status = output->Finish();
  for (const std::string& note : (*decoder)->notes()) std::cerr << "kafscope: note: " << note << '\n';
  if (status.code() == StatusCode::kCancelled) return kExitGood;
  if (!status.ok()) return ReportFailure(status);
  return error_rows == 0 ? kExitGood : kExitFailed;
}

}  // namespace

void DefineDecode(CLI::App& app, int* exit_code) {
  auto command = std::make_shared<DecodeCommand>();
  app.add_option("--input", command->input,
                 "raw: each file is one record's value (default); lines, hex, base64: one record a line")
      ->type_name("FORM")
      ->check(CLI::IsMember({"raw", "lines", "hex", "base64"}));
  AddDecodeFlags(app, &command->flags);
  AddOutputFlags(app, &command->output);
  app.add_option("files", command->files, "files to read; none, or -: standard input")->type_name("FILE");
  app.footer("Exit code 1: at least one record could not be decoded; its row says why.");
  app.callback([command, exit_code] { *exit_code = RunDecode(*command); });
}

}  // namespace kafscope
