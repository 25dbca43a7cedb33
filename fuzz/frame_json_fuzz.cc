// Frames of any content: both JSON outputs parse and equal the slow reference, an Arrow stream is written whole.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "encode/arrow_ipc_encoder.h"
#include "encode/frame_reference.h"
#include "encode/grafana_json_encoder.h"
#include "encode/row_json_writer.h"

namespace {

void Require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kafscope::WideIntegers;
  kafscope::GrafanaJsonEncoder as_text;
  kafscope::GrafanaJsonEncoder as_number({.wide_integers = WideIntegers::kNumber});
  kafscope::RowJsonWriter rows;
  kafscope::ArrowIpcEncoder arrow;
  std::string stream;
  for (const kafscope::FramePtr& frame : kafscope::FramesFromBytes({data, size})) {
    std::string out;
    as_text.Encode(*frame, &out);
    Require(nlohmann::json::parse(out) == kafscope::ReferenceGrafanaJson(*frame, true), "text", out);
    out.clear();
    as_number.Encode(*frame, &out);
    Require(nlohmann::json::parse(out) == kafscope::ReferenceGrafanaJson(*frame, false), "number", out);
    out.clear();
    rows.Encode(*frame, &out);
    std::istringstream lines(out);
    for (const auto& row : kafscope::ReferenceRows(*frame)) {
      std::string line;
      Require(static_cast<bool>(std::getline(lines, line)), "missing row", out);
      Require(nlohmann::ordered_json::parse(line) == row, "row", line);
    }
    arrow.Encode(*frame, &stream);
    Require(stream.size() % 8 == 0, "alignment", {});
  }
  return 0;
}
