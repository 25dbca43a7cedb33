#include "decode/header_columns.h"

#include "base/base64.h"
#include "base/json_escape.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

void AppendJsonValue(const RecordHeader& header, std::string* out) {
  if (header.value_is_null) {
    out->append("null");
  } else if (IsValidUtf8(header.value)) {
    AppendJsonString(header.value, out);
  } else {
    AppendJsonString(ToBase64(header.value), out);
  }
}

}  // namespace

void AppendTextOrBase64(std::string_view bytes, std::string* out) {
  if (IsValidUtf8(bytes)) {
    out->append(bytes);
    return;
  }
  const size_t begin = out->size();
  out->resize(begin + Base64Size(bytes.size()));
  WriteBase64(bytes, out->data() + begin);
}

void HeaderColumns::Attach(FrameBuilder& builder) {
  columns_.clear();
  if (options_.headers == HeaderMode::kAll) {
    columns_.push_back(builder.FindOrAddColumn("headers", FieldRole::kHeader));
  } else if (options_.headers == HeaderMode::kNamed) {
    for (const std::string& name : options_.header_names) {
      columns_.push_back(builder.FindOrAddColumn("header." + name, FieldRole::kHeader));
    }
  }
}

void HeaderColumns::Append(std::span<const RecordHeader> headers) {
  if (options_.headers == HeaderMode::kNamed) {
    for (size_t i = 0; i < columns_.size(); ++i) AppendNamed(options_.header_names[i], *columns_[i], headers);
    return;
  }
  if (columns_.empty()) return;
  text_.assign("[");
  for (const RecordHeader& header : headers) {
    text_.append(text_.size() == 1 ? "[" : ",[");
    if (IsValidUtf8(header.name)) {
      AppendJsonString(header.name, &text_);
    } else {
      AppendJsonString(ToBase64(header.name), &text_);
    }
    text_.push_back(',');
    AppendJsonValue(header, &text_);
    text_.push_back(']');
  }
  text_.push_back(']');
  columns_[0]->AppendString(text_);
}

void HeaderColumns::AppendNamed(const std::string& name, Column& column, std::span<const RecordHeader> headers) {
  size_t count = 0;
  const RecordHeader* last = nullptr;
  for (const RecordHeader& header : headers) {
    if (header.name != name) continue;
    ++count;
    last = &header;
  }
  if (count == 0 || (count == 1 && last->value_is_null)) return;
  text_.clear();
  if (count == 1) {
    AppendTextOrBase64(last->value, &text_);
  } else {
    for (const RecordHeader& header : headers) {
      if (header.name != name) continue;
      text_.push_back(text_.empty() ? '[' : ',');
      AppendJsonValue(header, &text_);
    }
    text_.push_back(']');
  }
  column.AppendString(text_);
}

}  // namespace kafscope
