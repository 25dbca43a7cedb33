// No encoder allocates once it has seen a frame of this size.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "encode/arrow_ipc_encoder.h"
#include "encode/frame_reference.h"
#include "encode/grafana_json_encoder.h"
#include "encode/row_json_writer.h"

namespace {
thread_local uint64_t allocations = 0;

void* Count(size_t size, size_t alignment) {
  ++allocations;
  void* memory = alignment == 0 ? std::malloc(size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

void* operator new(size_t size) { return Count(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) { return Count(size, static_cast<size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace kafscope {
namespace {

TEST(Encoders, NoAllocationWhenWarm) {
  const std::vector<FramePtr> frames = RandomFrames(3);
  const FramePtr& frame = frames.back();
  std::unique_ptr<FrameEncoder> encoders[] = {
      std::make_unique<GrafanaJsonEncoder>(), std::make_unique<ArrowIpcEncoder>(),
      std::make_unique<ArrowIpcEncoder>(ArrowMode::kSelfContained), std::make_unique<RowJsonWriter>()};
  for (const auto& encoder : encoders) {
    std::string out;
    for (int i = 0; i < 2; ++i) {
      out.clear();
      encoder->Encode(*frame, &out);
    }
    const uint64_t before = allocations;
    for (int i = 0; i < 50; ++i) {
      out.clear();
      encoder->Encode(*frame, &out);
    }
    EXPECT_EQ(allocations - before, 0u);
  }
}

}  // namespace
}  // namespace kafscope
