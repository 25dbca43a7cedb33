#include "decode/line_protocol_reference.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <set>
#include <stdexcept>

#include "base/utf8.h"

namespace kafscope {

namespace {

// Thrown at the place of a fault; test code may.
struct Fault {
  size_t at;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::vector<ReferencePoint> All() {
    std::vector<ReferencePoint> points;
    while (true) {
      while (Peek() == ' ') ++at_;
      if (at_ >= text_.size()) return points;
      if (Peek() == '#') {
        at_ = AfterLineFeed(at_);
        continue;
      }
      if (LineEndSize() > 0) {
        at_ += LineEndSize();
        continue;
      }
      // The line begins behind the last line end, its spaces included.
      const size_t begin = at_;
      try {
        ReferencePoint point = Point();
        if (!IsValidUtf8(std::string_view(text_).substr(begin, at_ - begin))) {
          point = ReferencePoint{};
          point.error_line = LineOf(begin);
        }
        points.push_back(std::move(point));
      } catch (const Fault& fault) {
        ReferencePoint point;
        point.error_line = LineOf(begin);
        points.push_back(std::move(point));
        at_ = AfterLineFeed(fault.at);
      }
    }
  }

 private:
  static constexpr int kEnd = -1;

  int Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? static_cast<unsigned char>(text_[at_ + ahead]) : kEnd;
  }
  uint64_t LineOf(size_t at) const {
    return 1 + static_cast<uint64_t>(std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at), '\n'));
  }
  size_t AfterLineFeed(size_t at) const {
    const size_t found = text_.find('\n', at);
    return found == std::string::npos ? text_.size() : found + 1;
  }
  size_t LineEndSize() const {
    if (Peek() == '\n') return 1;
    if (Peek() == '\r' && Peek(1) == '\n') return 2;
    return Peek() == '\r' && Peek(1) == kEnd ? 1 : 0;
  }
  bool AtLineEnd() const { return Peek() == kEnd || LineEndSize() > 0; }
  void Expect(bool holds) const {
    if (!holds) throw Fault{at_};
  }

  // Characters up to one of `stops`; a backslash takes the meaning from those in `escapes`.
  std::string Name(const std::string& stops, const std::string& escapes) {
    std::string name;
    while (Peek() != kEnd) {
      const char c = text_[at_];
      if (c == '\\' && Peek(1) != kEnd && escapes.find(text_[at_ + 1]) != std::string::npos) {
        name += text_[at_ + 1];
        at_ += 2;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || stops.find(c) != std::string::npos) break;
      name += c;
      ++at_;
    }
    Expect(!name.empty());
    return name;
  }

  ReferencePoint Point() {
    ReferencePoint point;
    point.measurement = Name(", ", ", ");
    std::set<std::string> keys;
    while (Peek() == ',') {
      ++at_;
      std::string key = Name(",= ", ",= ");
      Expect(Peek() == '=');
      ++at_;
      std::string value = Name(",= ", ",= ");
      Expect(keys.insert(key).second);
      point.tags.emplace_back(std::move(key), std::move(value));
    }
    Expect(Peek() == ' ');
    while (Peek() == ' ') ++at_;
    point.fields.push_back(Field());
    while (Peek() == ',') {
      ++at_;
      point.fields.push_back(Field());
    }
    if (Peek() == ' ') {
      while (Peek() == ' ') ++at_;
      if (!AtLineEnd()) point.time = Time();
    }
    Expect(AtLineEnd());
    at_ += LineEndSize();
    return point;
  }

  int64_t Time() {
    static const std::regex kTime("-?[0-9]+");
    const size_t begin = at_;
    std::string token;
    while (Peek() != kEnd && Peek() != ' ' && !AtLineEnd()) token += text_[at_++];
    if (!std::regex_match(token, kTime)) throw Fault{begin};
    while (Peek() == ' ') ++at_;
    return Integer<int64_t>(token, begin);
  }

  template <typename T>
  static T Integer(const std::string& token, size_t at) {
    errno = 0;
    char* end = nullptr;
    const T value = std::is_signed_v<T> ? static_cast<T>(std::strtoll(token.c_str(), &end, 10))
                                        : static_cast<T>(std::strtoull(token.c_str(), &end, 10));
    if (errno != 0 || *end != '\0') throw Fault{at};
    return value;
  }

  ReferenceField Field() {
    static const std::regex kInt("-?[0-9]+i");
    static const std::regex kUint("[0-9]+u");
    static const std::regex kFloat("-?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    static const std::set<std::string> kTrue = {"t", "T", "true", "True", "TRUE"};
    static const std::set<std::string> kFalse = {"f", "F", "false", "False", "FALSE"};
    ReferenceField field;
    field.key = Name(",= ", ",= ");
    Expect(Peek() == '=');
    ++at_;
    if (Peek() == '"') {
      field.kind = LineProtocolParser::Kind::kText;
      field.text = Text();
      return field;
    }
    const size_t begin = at_;
    std::string token;
    while (Peek() != kEnd && Peek() != ' ' && Peek() != ',' && Peek() != '\n' && Peek() != '\r') token += text_[at_++];
    if (std::regex_match(token, kInt)) {
      field.kind = LineProtocolParser::Kind::kInt;
      field.integer = Integer<int64_t>(token.substr(0, token.size() - 1), begin);
    } else if (std::regex_match(token, kUint)) {
      field.kind = LineProtocolParser::Kind::kUint;
      field.unsigned_integer = Integer<uint64_t>(token.substr(0, token.size() - 1), begin);
    } else if (std::regex_match(token, kFloat)) {
      field.number = std::strtod(token.c_str(), nullptr);
      if (std::isinf(field.number)) throw Fault{begin};
    } else if (kTrue.contains(token) || kFalse.contains(token)) {
      field.kind = LineProtocolParser::Kind::kBool;
      field.boolean = kTrue.contains(token);
    } else {
      throw Fault{begin};
    }
    return field;
  }

  std::string Text() {
    const size_t quote = at_++;
    std::string text;
    while (Peek() != '"') {
      if (Peek() == kEnd) throw Fault{quote};
      if (Peek() == '\\' && (Peek(1) == '"' || Peek(1) == '\\' || Peek(1) == '\n' || Peek(1) == '\r')) ++at_;
      text += text_[at_++];
    }
    ++at_;
    return text;
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<ReferencePoint> ReferenceLines(const std::string& payload) { return Reader(payload).All(); }

}  // namespace kafscope
