// Header fields of a request or a reply: in order, with repetitions, in one allocation.
//
// A value; names are compared without case. Each name and value has a NUL behind it, as the plugin
// border promises of all text that the host gives.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace detent {

class HttpHeaders {
 public:
  void Add(std::string_view name, std::string_view value) {
    const auto at = static_cast<uint32_t>(text_.size());
    text_.append(name).push_back('\0');
    text_.append(value).push_back('\0');
    fields_.push_back(
        {at, static_cast<uint32_t>(name.size()), static_cast<uint32_t>(value.size())});
  }

  size_t size() const { return fields_.size(); }
  size_t bytes() const { return text_.size(); }
  std::string_view name(size_t i) const { return {text_.data() + fields_[i].at, fields_[i].name}; }
  std::string_view value(size_t i) const {
    return {text_.data() + fields_[i].at + fields_[i].name + 1, fields_[i].value};
  }

  // The value of the first field of that name, case ignored; null data where there is none.
  std::string_view Find(std::string_view name) const;

  void Clear() {
    text_.clear();
    fields_.clear();
  }

  bool operator==(const HttpHeaders& other) const = default;

 private:
  struct Field {
    uint32_t at = 0;
    uint32_t name = 0;
    uint32_t value = 0;
    bool operator==(const Field&) const = default;
  };
  std::string text_;
  std::vector<Field> fields_;
};

}  // namespace detent
