// RowOutput: decoded frames on standard output, as a table, JSON rows, an Arrow stream or Grafana frames.
//
// Use: AddOutputFlags(), Make() once the command line is parsed, Write() for each frame, Finish() at the end.
// A reader that went away (`| head`) is told by Write(): kCancelled. Cost: one write a frame. Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "encode/frame_encoder.h"

namespace CLI {
class App;
}

namespace kafscope {

struct OutputFlags {
  bool json = false;
  bool arrow = false;
  bool frame = false;
};
void AddOutputFlags(CLI::App& app, OutputFlags* flags);

class RowOutput {
 public:
  static Result<RowOutput> Make(const OutputFlags& flags);

  Status Write(const Frame& frame);
  Status Finish();
  // The reader needs one schema for all of it: worth a second pass over finite input.
  bool wants_final_schema() const { return arrow_; }

 private:
  RowOutput() = default;
  Status Flush();

  std::unique_ptr<FrameEncoder> encoder_;
  std::string buffer_;
  bool arrow_ = false;
  bool line_end_ = false;  // the encoder ends no lines itself
};

}  // namespace kafscope
