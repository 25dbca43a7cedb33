// Writes the random frames of one seed three ways, for readers that are not ours:
//   frame_samples SEED FOLDER   →  FOLDER/{stream.arrows,self_contained.arrows,rows.ndjson,frames.ndjson}
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>

#include "encode/arrow_ipc_encoder.h"
#include "encode/frame_reference.h"
#include "encode/grafana_json_encoder.h"
#include "encode/row_json_writer.h"

namespace {

void Write(kafscope::FrameEncoder& encoder, const std::vector<kafscope::FramePtr>& frames, const std::string& path,
           bool line_ends = false) {
  std::string out;
  for (const kafscope::FramePtr& frame : frames) {
    encoder.Encode(*frame, &out);
    if (line_ends) out += '\n';
  }
  encoder.Finish(&out);
  std::ofstream(path, std::ios::binary) << out;
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t seed = 0;
  if (argc != 3 || std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), seed).ec != std::errc()) {
    std::cerr << "usage: frame_samples SEED FOLDER\n";
    return 2;
  }
  const std::string folder = argv[2];
  const std::vector<kafscope::FramePtr> frames = kafscope::RandomFrames(seed);
  kafscope::ArrowIpcEncoder stream;
  kafscope::ArrowIpcEncoder self_contained(kafscope::ArrowMode::kSelfContained);
  kafscope::RowJsonWriter rows;
  kafscope::GrafanaJsonEncoder grafana;
  Write(stream, frames, folder + "/stream.arrows");
  Write(self_contained, frames, folder + "/self_contained.arrows");
  Write(rows, frames, folder + "/rows.ndjson");
  Write(grafana, frames, folder + "/frames.ndjson", true);
  return 0;
}
