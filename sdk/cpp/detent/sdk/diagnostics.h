// Diagnostics: collects what is wrong with a document, each finding with the place as JSON pointer,
// so that a user sees all of it at once. Findings go to the host's sink where there is one; the
// first error is kept as a Status for callers that have nobody to show a list to. One thread.

#pragma once

#include <string>
#include <string_view>

#include "detent/host.h"
#include "detent/sdk/status.h"

namespace detent::sdk {

class Diagnostics {
 public:
  // sink may be null: then only the first error is kept.
  Diagnostics(const detent_host* host, detent_diag* sink) : host_(host), sink_(sink) {}

  // pointer: RFC 6901, "" for the whole. reason: CamelCase. hint: what to do instead, or empty.
  void Error(std::string_view pointer, std::string_view reason, std::string_view message,
             std::string_view hint = {}) {
    if (first_.ok()) {
      std::string text(pointer);
      if (!text.empty()) text += ": ";
      text += message;
      if (!hint.empty()) text.append(" (").append(hint).append(")");
      first_ = Invalid(std::string(reason), std::move(text));
    }
    Add(DETENT_DIAG_ERROR, pointer, reason, message, hint);
  }
  void Warning(std::string_view pointer, std::string_view reason, std::string_view message,
               std::string_view hint = {}) {
    Add(DETENT_DIAG_WARNING, pointer, reason, message, hint);
  }
  void Note(std::string_view pointer, std::string_view reason, std::string_view message) {
    Add(DETENT_DIAG_NOTE, pointer, reason, message, {});
  }

  // OK while there was no error.
  const Status& status() const { return first_; }
  bool ok() const { return first_.ok(); }

  const detent_host* host() const { return host_; }
  detent_diag* sink() const { return sink_; }

 private:
  void Add(uint32_t severity, std::string_view pointer, std::string_view reason,
           std::string_view message, std::string_view hint) {
    if (sink_ == nullptr) return;
    const detent_str place = Str(pointer), why = Str(reason), text = Str(message), help = Str(hint);
    host_->diag_add(sink_, severity, &place, &why, &text, hint.empty() ? nullptr : &help);
  }

  const detent_host* host_;
  detent_diag* sink_;
  Status first_;
};

}  // namespace detent::sdk
