// What can be said of a Pod's template without the server: metadata's syntax, the shape of its
// containers, and what is not a template's to say. Pure, any thread.

#pragma once

#include <string>

#include "detent/sdk/spec.h"

namespace detent::pod {

// Adds what is wrong to diag. `pointer`: of the value in its document. In a template, texts with
// "${" are not judged.
class TemplateRules {
 public:
  TemplateRules(sdk::Fields::Mode mode, sdk::Diagnostics& diag) : mode_(mode), diag_(diag) {}

  void CheckLabels(const sdk::Json& labels, const std::string& pointer);
  void CheckAnnotations(const sdk::Json& annotations, const std::string& pointer);
  void CheckFinalizers(const sdk::Json& finalizers, const std::string& pointer);
  // Of the PodSpec: its containers, init containers and restartPolicy.
  void CheckSpec(const sdk::Json& spec, const std::string& pointer);

 private:
  bool IsTemplate(std::string_view text) const;
  void Wrong(const std::string& pointer, std::string_view reason, std::string_view message,
             std::string_view hint = {});
  // An object of texts; calls check(key, value, pointer of the member).
  template <typename Check>
  void CheckTexts(const sdk::Json& object, const std::string& pointer, Check check);
  void CheckKey(std::string_view key, const std::string& pointer);
  void CheckContainers(const sdk::Json& list, const std::string& pointer);
  void CheckContainer(const sdk::Json& container, const std::string& pointer);
  void CheckEnvironment(const sdk::Json& env, const std::string& pointer);
  void CheckRestartPolicy(const sdk::Json& policy, const std::string& pointer);

  sdk::Fields::Mode mode_;
  sdk::Diagnostics& diag_;
  std::vector<std::string> names_;  // of the containers seen
};

}  // namespace detent::pod
