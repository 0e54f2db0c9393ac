#include "core/cli/mistakes.h"

#include "core/api/admission.h"

namespace detent {
namespace {

std::string Place(const Manifest& manifest) {
  const TextPosition position = manifest.source.PositionOf("");
  if (position.line == 0) return manifest.file + ": ";
  return manifest.file + ":" + std::to_string(position.line) + ":" +
         std::to_string(position.column) + ": ";
}

// Without the phrase that Kubernetes puts in front ("Invalid value: "): what follows is a sentence
// of its own.
std::string WithoutPhrase(const std::string& message) {
  for (const std::string_view phrase :
       {"Required value: ", "Unsupported value: ", "Forbidden: ", "Duplicate value: ", "Too many: ",
        "Too long: ", "Not found: ", "Invalid value: "}) {
    if (message.starts_with(phrase) && message.size() > phrase.size()) {
      return message.substr(phrase.size());
    }
  }
  return message;
}

}  // namespace

Findings CheckOffline(const Manifest& manifest, WallTime now) {
  AdmissionContext context;
  context.now = now;
  Admission admission = AdmitNew(manifest.kind, manifest.document, context);
  Findings findings;
  findings.warnings = std::move(admission.warnings);
  for (const Diagnostic& mistake : admission.mistakes) {
    findings.mistakes.push_back(Locate(manifest, mistake));
  }
  return findings;
}

std::vector<std::string> ExplainRefusal(const Manifest& manifest, const Error& error,
                                        const std::vector<FieldMistake>& fields, WallTime now) {
  if (error.code() != Code::kInvalid) return {Place(manifest) + error.message()};
  // A server may have been sent the newer spelling of what the file has.
  Json document = manifest.document;
  const bool older = Modernize(manifest.kind, document);
  std::vector<std::string> sentences;
  for (const FieldMistake& mistake : fields) {
    if (mistake.field.empty()) continue;
    Diagnostic diagnostic;
    diagnostic.pointer = PointerOf(mistake.field);
    if (older) diagnostic.pointer = OlderPointer(manifest.kind, diagnostic.pointer);
    diagnostic.message = WithoutPhrase(mistake.message);
    sentences.push_back(Locate(manifest, diagnostic));
  }
  // A server that refuses a document as a whole has not said where; what we find is better.
  if (sentences.empty()) sentences = CheckOffline(manifest, now).mistakes;
  if (sentences.empty()) sentences.push_back(Place(manifest) + error.message());
  return sentences;
}

std::string PointerOf(std::string_view field) {
  std::string pointer;
  std::string step;
  const auto end_step = [&] {
    if (!step.empty()) pointer += PointerToken(step);
    step.clear();
  };
  bool bracket = false;
  for (const char c : field) {
    if (c == '[' || (c == ']' && bracket) || (c == '.' && !bracket)) {
      end_step();
      bracket = c == '[';
    } else {
      step += c;
    }
  }
  end_step();
  return pointer;
}

}  // namespace detent
