// For tests and fuzz targets only: line protocol read slowly and obviously, to compare LineProtocolParser with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/line_protocol_parser.h"

namespace kafscope {

struct ReferenceField {
  std::string key;
  LineProtocolParser::Kind kind = LineProtocolParser::Kind::kFloat;
  double number = 0;
  int64_t integer = 0;
  uint64_t unsigned_integer = 0;
  bool boolean = false;
  std::string text = {};

  friend bool operator==(const ReferenceField&, const ReferenceField&) = default;
};

struct ReferencePoint {
  uint64_t error_line = 0;  // not 0: a bad line, nothing else is set
  std::string measurement = {};
  std::vector<std::pair<std::string, std::string>> tags = {};
  std::vector<ReferenceField> fields = {};
  std::optional<int64_t> time = {};

  friend bool operator==(const ReferencePoint&, const ReferencePoint&) = default;
};

std::vector<ReferencePoint> ReferenceLines(const std::string& payload);

}  // namespace kafscope
