#include "cli/row_output.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>

#include "cli/table_writer.h"
#include "encode/arrow_ipc_encoder.h"
#include "encode/grafana_json_encoder.h"
#include "encode/row_json_writer.h"

namespace kafscope {

void AddOutputFlags(CLI::App& app, OutputFlags* flags) {
  app.add_flag("--json", flags->json, "one JSON object a row");
  app.add_flag("--arrow", flags->arrow, "an Arrow IPC stream");
  app.add_flag("--frame", flags->frame, "Grafana data frames as JSON, one a line");
}

Result<RowOutput> RowOutput::Make(const OutputFlags& flags) {
  if (static_cast<int>(flags.json) + static_cast<int>(flags.arrow) + static_cast<int>(flags.frame) > 1) {
    return Fail(Status::InvalidArgument("--json, --arrow, --frame: only one of them can be given"));
  }
  RowOutput output;
  output.arrow_ = flags.arrow;
  output.line_end_ = flags.frame;
  if (flags.json) {
    output.encoder_ = std::make_unique<RowJsonWriter>();
  } else if (flags.arrow) {
    output.encoder_ = std::make_unique<ArrowIpcEncoder>(ArrowMode::kStream);
  } else if (flags.frame) {
    output.encoder_ = std::make_unique<GrafanaJsonEncoder>(GrafanaJsonOptions{.wide_integers = WideIntegers::kNumber});
  } else {
    output.encoder_ = std::make_unique<TableWriter>();
  }
  return output;
}

Status RowOutput::Write(const Frame& frame) {
  encoder_->Encode(frame, &buffer_);
  if (line_end_) buffer_.push_back('\n');
  return Flush();
}

Status RowOutput::Finish() {
  encoder_->Finish(&buffer_);
  return Flush();
}

Status RowOutput::Flush() {
  const char* next = buffer_.data();
  size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t written = ::write(STDOUT_FILENO, next, left);
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) return Status::Cancelled("the reader of the output has gone");
      return Status::Internal(std::string("cannot write the output: ") + std::strerror(errno));
    }
    next += written;
    left -= static_cast<size_t>(written);
  }
  buffer_.clear();
  return {};
}

}  // namespace kafscope
