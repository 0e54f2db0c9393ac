// Fields: reads the fields of one JSON object, and reports whatever is not right about them: a
// missing or mistyped field, a number out of range, a word that is not one of the known ones, and,
// when the Fields ends, every field that nobody asked for, with the known name it resembles.
//
// One function reads a spec for both uses: Validate runs it for its findings, Start for its values.
//
//   static Spec Read(Fields& f) { return {f.Int("milliseconds", {.min = 0, .required = true})}; }
//
// In a template (validation, before substitution) a text that contains "${" stands in for a value
// of any type: it is accepted, and the fallback is returned. One thread; borrows the document.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detent/sdk/diagnostics.h"
#include "detent/sdk/json.h"
#include "detent/sdk/spec_rules.h"
#include "detent/sdk/spelling.h"

namespace detent::sdk {

class Fields {
 public:
  enum class Mode { kTemplate, kFinal };

  // object: an object, or nothing (then every field is missing). diag outlives this.
  Fields(Json object, std::string pointer, Mode mode, Diagnostics& diag)
      : object_(object), pointer_(std::move(pointer)), mode_(mode), diag_(&diag) {
    if (object_ && !object_.IsObject()) {
      diag_->Error(pointer_, "WrongType", "must be an object");
      object_ = Json();
    }
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  ~Fields() { ReportUnknown(); }

  // Whether the object itself is there.
  bool present() const { return static_cast<bool>(object_); }
  Diagnostics& diag() { return *diag_; }
  std::string PointerTo(std::string_view name) const { return pointer_ + PointerToken(name); }

  std::string Text(std::string_view name, const TextRule& rule = {}) {
    const Json value = Take(name, rule.required);
    if (!value) return std::string(rule.fallback);
    const auto text = value.Text();
    if (!text) return Wrong(name, "must be a text"), std::string(rule.fallback);
    if (IsTemplate(value)) return std::string(*text);
    if (text->size() > rule.max_bytes) {
      diag_->Error(PointerTo(name), "TooLong",
                   "must have at most " + std::to_string(rule.max_bytes) + " bytes");
    }
    CheckWord(name, *text, rule);
    return std::string(*text);
  }

  int64_t Int(std::string_view name, const IntRule& rule = {}) {
    const Json value = Take(name, rule.required);
    if (!value || IsTemplate(value)) return rule.fallback;
    const auto number = value.Int();
    if (!number) return Wrong(name, "must be an integer"), rule.fallback;
    if (*number < rule.min || *number > rule.max) {
      diag_->Error(PointerTo(name), "OutOfRange",
                   "must be " + std::to_string(rule.min) + " to " + std::to_string(rule.max) +
                       ", not " + std::to_string(*number));
      return rule.fallback;
    }
    return *number;
  }

  double Double(std::string_view name, double fallback = 0, bool required = false) {
    const Json value = Take(name, required);
    if (!value || IsTemplate(value)) return fallback;
    const auto number = value.Double();
    if (!number) Wrong(name, "must be a number");
    return number.value_or(fallback);
  }

  bool Bool(std::string_view name, bool fallback = false) {
    const Json value = Take(name, false);
    if (!value || IsTemplate(value)) return fallback;
    const auto truth = value.Bool();
    if (!truth) Wrong(name, "must be true or false");
    return truth.value_or(fallback);
  }

  // A list of texts.
  std::vector<std::string> Texts(std::string_view name, const ListRule& rule = {}) {
    std::vector<std::string> out;
    const Json list = TakeList(name, rule);
    for (uint64_t i = 0; i < list.size(); ++i) {
      const auto text = list[i].Text();
      if (text) out.emplace_back(*text);
      if (!text) diag_->Error(ItemPointer(name, i), "WrongType", "must be a text");
    }
    return out;
  }

  // An object below this one; present() is false if it is missing.
  Fields Object(std::string_view name, bool required = false) {
    return Fields(Take(name, required), PointerTo(name), mode_, *diag_);
  }

  // Calls f(Fields&) for each object of a list.
  template <typename F>
  void Each(std::string_view name, F f, const ListRule& rule = {}) {
    const Json list = TakeList(name, rule);
    for (uint64_t i = 0; i < list.size(); ++i) {
      Fields item(list[i], ItemPointer(name, i), mode_, *diag_);
      f(item);
    }
  }

  // The value as it is, of any kind; the caller checks it.
  Json Raw(std::string_view name, bool required = false) { return Take(name, required); }

  bool IsTemplate(const Json& value) const {
    if (mode_ != Mode::kTemplate) return false;
    const auto text = value.Text();
    return text && text->find("${") != std::string_view::npos;
  }

 private:
  Json Take(std::string_view name, bool required) {
    known_.emplace_back(name);
    const Json value = object_[name];
    // An explicit null is the same as nothing, as in Kubernetes manifests.
    if (value && !value.IsNull()) return value;
    if (required) diag_->Error(PointerTo(name), "Required", "must be given");
    return {};
  }

  Json TakeList(std::string_view name, const ListRule& rule) {
    const Json list = Take(name, rule.required);
    if (!list) return {};
    if (!list.IsArray()) return Wrong(name, "must be a list"), Json();
    if (list.size() < rule.min_items || list.size() > rule.max_items) {
      diag_->Error(PointerTo(name), "WrongLength",
                   "must have " + std::to_string(rule.min_items) + " to " +
                       std::to_string(rule.max_items) + " entries");
      return {};
    }
    return list;
  }

  void CheckWord(std::string_view name, std::string_view text, const TextRule& rule) {
    if (rule.one_of.size() == 0) return;
    if (std::find(rule.one_of.begin(), rule.one_of.end(), text) != rule.one_of.end()) return;
    std::string all;
    for (const std::string_view word : rule.one_of) {
      all.append(all.empty() ? "must be one of " : ", ").append(word);
    }
    const std::string_view near = Nearest(text, rule.one_of.begin(), rule.one_of.end());
    diag_->Error(PointerTo(name), "UnknownValue", all, DidYouMean(near));
  }

  void ReportUnknown() {
    for (uint64_t i = 0; i < object_.size(); ++i) {
      const std::string_view key = object_.KeyAt(i);
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const std::string_view near = Nearest(key, known_.begin(), known_.end());
      diag_->Error(PointerTo(key), "UnknownField", "there is no such field", DidYouMean(near));
    }
  }

  void Wrong(std::string_view name, std::string_view message) {
    diag_->Error(PointerTo(name), "WrongType", message);
  }
  std::string ItemPointer(std::string_view name, uint64_t i) const {
    return PointerTo(name) + "/" + std::to_string(i);
  }
  Json object_;
  std::string pointer_;
  Mode mode_;
  Diagnostics* diag_;
  std::vector<std::string> known_;
};

}  // namespace detent::sdk
