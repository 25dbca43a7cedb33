// ReplaySource: records that are already in memory, for `decode`, benchmarks and tests.
//
// Use: Make a vector of ReplayRecords (or values only), then Poll() as of Source. Offsets count from 0.
// Cost: Poll copies the views. Ownership: the source owns the bytes; batches point into it and must not outlive it.
// Threads: one.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "source/source.h"

namespace kafscope {

struct ReplayRecord {
  std::optional<std::string> key;
  std::optional<std::string> value;
  int32_t partition = 0;
  int64_t timestamp_ms = -1;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

class ReplaySource final : public Source {
 public:
  explicit ReplaySource(std::vector<ReplayRecord> records) : owned_(std::move(records)) { MakeViews(); }
  explicit ReplaySource(std::vector<std::string> values) {
    owned_.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) owned_[i].value = std::move(values[i]);
    MakeViews();
  }
  ReplaySource(const ReplaySource&) = delete;
  ReplaySource& operator=(const ReplaySource&) = delete;

  Status Poll(size_t max_records, std::chrono::steady_clock::time_point /*deadline*/,
              ConsumerRecords* records) override {
    records->Clear();
    const size_t count = std::min(max_records, views_.size() - next_);
    records->mutable_records().assign(views_.begin() + static_cast<ptrdiff_t>(next_),
                                      views_.begin() + static_cast<ptrdiff_t>(next_ + count));
    next_ += count;
    return {};
  }
  bool AtEnd() const override { return next_ == views_.size(); }
  // Gives everything once more.
  void Rewind() { next_ = 0; }
  size_t size() const { return views_.size(); }

 private:
  void MakeViews() {
    size_t header_count = 0;
    for (const ReplayRecord& record : owned_) header_count += record.headers.size();
    headers_.reserve(header_count);  // spans point into it
    views_.reserve(owned_.size());
    for (const ReplayRecord& record : owned_) {
      ConsumerRecord& view = views_.emplace_back();
      view.has_key = record.key.has_value();
      view.has_value = record.value.has_value();
      if (record.key) view.key = *record.key;
      if (record.value) view.value = *record.value;
      view.partition = record.partition;
      view.offset = static_cast<int64_t>(views_.size()) - 1;
      view.timestamp_ms = record.timestamp_ms;
      if (record.timestamp_ms >= 0) view.timestamp_type = TimestampType::kCreateTime;
      const size_t first = headers_.size();
      for (const auto& [name, value] : record.headers) {
        headers_.push_back({name, value ? std::string_view(*value) : std::string_view(), !value.has_value()});
      }
      view.headers = {headers_.data() + first, record.headers.size()};
    }
  }

  std::vector<ReplayRecord> owned_;
  std::vector<RecordHeader> headers_;
  std::vector<ConsumerRecord> views_;
  size_t next_ = 0;
};

}  // namespace kafscope
