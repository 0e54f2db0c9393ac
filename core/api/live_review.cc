#include "core/api/live_review.h"

#include <utility>

namespace detent {
namespace {

// The one executor of an object, as admission has left it.
struct LiveTarget {
  std::string pointer;  // Into the object.
  std::string kind;
  Json spec;
};

std::optional<LiveTarget> LiveTargetOf(const Object& object) {
  const auto spec = ParseJson(object.spec);
  if (!spec) return std::nullopt;
  const std::string place =
      object.kind == Kind::kJobConfig ? "/template/spec/taskTemplate" : "/template/taskTemplate";
  const Json* holder = spec->At(place);
  if (holder == nullptr || !holder->is_object()) return std::nullopt;
  for (const auto& [kind, inner] : holder->as_object()) {
    if (!inner.is_object()) continue;
    return LiveTarget{"/spec" + place + PointerToken(kind), kind, inner};
  }
  return std::nullopt;
}

bool HasOlderForm(Kind kind, const Json& document) {
  Json copy = document;
  return Modernize(kind, copy);
}

}  // namespace

void LiveReview::Judge(const Object* old, const Json& document, Admission& admission) {
  if (validator_ == nullptr || !admission.mistakes.empty()) return;
  const Object& object = admission.object;
  if (old != nullptr && old->spec == object.spec) return;
  const auto target = LiveTargetOf(object);
  if (!target) return;
  if (old != nullptr) {
    const auto before = LiveTargetOf(*old);
    if (before && before->kind == target->kind && before->spec == target->spec) return;
  }
  if (std::string spec = DumpJson(target->spec); spec != asked_) {
    asked_ = std::move(spec);
    findings_ = validator_->CheckLive({target->kind, object.meta.ns, asked_, patience_});
  }
  const bool nothing =
      findings_.mistakes.empty() && findings_.warnings.empty() && findings_.not_checked.empty();
  if (nothing) return;
  const bool older = HasOlderForm(object.kind, document);
  const auto placed = [&](Diagnostic finding) {
    finding.pointer = target->pointer + finding.pointer;
    if (older) finding.pointer = OlderPointer(object.kind, finding.pointer);
    return finding;
  };
  for (const Diagnostic& mistake : findings_.mistakes) {
    admission.mistakes.push_back(placed(mistake));
  }
  for (const Diagnostic& warning : findings_.warnings) {
    admission.warnings.push_back(Sentence(placed(warning)));
  }
  if (findings_.not_checked.empty()) return;
  Diagnostic note;
  note.message = "could not be tried out, and is taken as it is: " + findings_.not_checked;
  admission.warnings.push_back(Sentence(placed(std::move(note))));
}

}  // namespace detent
