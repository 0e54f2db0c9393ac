#include "core/api/admission_steps.h"

namespace detent {

void Review::Add(std::string pointer, Diagnostic::Reason reason, std::string message,
                 std::string hint) {
  mistakes.push_back({std::move(pointer), reason, std::move(message), std::move(hint)});
}

void Review::AddIfBad(const std::string& pointer, std::string_view value,
                      const Result<void>& result) {
  if (result) return;
  Add(pointer, Diagnostic::Reason::kInvalid, Quoted(value) + " " + result.error().message());
}

void ForgiveUnknown(Review& review) {
  std::erase_if(review.mistakes, [&](const Diagnostic& mistake) {
    if (mistake.reason != Diagnostic::Reason::kUnknownField) return false;
    review.warnings.push_back(Sentence(mistake));
    return true;
  });
}

const Json* ObjectIn(const Json* object, std::string_view name) {
  const Json* member = object == nullptr ? nullptr : object->Find(name);
  return member != nullptr && member->is_object() ? member : nullptr;
}

const Json* ArrayIn(const Json* object, std::string_view name) {
  const Json* member = object == nullptr ? nullptr : object->Find(name);
  return member != nullptr && member->is_array() ? member : nullptr;
}

const std::string* TextIn(const Json* object, std::string_view name) {
  const Json* member = object == nullptr ? nullptr : object->Find(name);
  return member != nullptr && member->is_string() ? &member->as_string() : nullptr;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 100;
  if (text.size() <= kMost) return "'" + std::string(text) + "'";
  size_t cut = kMost;
  // Not in the middle of a character.
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return "'" + std::string(text.substr(0, cut)) + "...'";
}

void CheckRange(Review& review, const Json& object, const std::string& pointer,
                const Range& range) {
  const Json* member = object.Find(range.name);
  if (member == nullptr || !member->is_int()) return;
  const int64_t value = member->as_int();
  if (value >= range.least && value <= range.most) return;
  const bool low = value < range.least;
  review.Add(pointer + PointerToken(range.name), Diagnostic::Reason::kInvalid,
             std::string("must be at ") + (low ? "least " : "most ") +
                 std::to_string(low ? range.least : range.most) + ", not " + std::to_string(value));
}

}  // namespace detent
