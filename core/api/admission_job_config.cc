// A JobConfig's own fields: concurrency and schedule.

#include <limits>

#include "core/api/admission_steps.h"
#include "core/base/clock.h"
#include "core/cron/schedule.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

void CheckConcurrency(Review& review, const Json* concurrency) {
  if (concurrency == nullptr) return;
  CheckRange(review, *concurrency, "/spec/concurrency",
             {"maxConcurrency", 1, std::numeric_limits<int32_t>::max()});
  const std::string* policy = TextIn(concurrency, "policy");
  if (policy == nullptr || *policy != "Allow") return;
  if (concurrency->Find("maxConcurrency") == nullptr) return;
  review.Add("/spec/concurrency/maxConcurrency", Reason::kForbidden,
             "has no meaning with policy Allow; remove it, or use policy Forbid");
}

// "namespace/name", which H in an expression is derived from.
std::string HashId(const Json& document) {
  const Json* metadata = ObjectIn(&document, "metadata");
  const std::string* ns = TextIn(metadata, "namespace");
  const std::string* name = TextIn(metadata, "name");
  return (ns == nullptr ? "default" : *ns) + "/" + (name == nullptr ? "generated" : *name);
}

struct NamedExpression {
  std::string pointer;
  std::string text;
};

std::vector<NamedExpression> ExpressionsOf(const Json& cron) {
  std::vector<NamedExpression> expressions;
  const std::string pointer = "/spec/schedule/cron/expression";
  if (const std::string* single = TextIn(&cron, "expression")) {
    expressions.push_back({pointer, *single});
  }
  if (const Json* several = ArrayIn(&cron, "expressions")) {
    size_t position = 0;
    for (const Json& entry : several->as_array()) {
      const std::string inner = pointer + "s/" + std::to_string(position++);
      if (entry.is_string()) expressions.push_back({inner, entry.as_string()});
    }
  }
  return expressions;
}

// Exactly one of the two forms must be there, and not be empty.
void CheckForms(Review& review, const Json& cron) {
  const Json* single = cron.Find("expression");
  const Json* several = cron.Find("expressions");
  const std::string pointer = "/spec/schedule/cron";
  if (single != nullptr && several != nullptr) {
    review.Add(pointer, Reason::kTooMany,
               "must have one of expression and expressions, not both; move expression into the "
               "list");
  } else if (single == nullptr && several == nullptr) {
    review.Add(pointer + "/expression", Reason::kRequired, "is required; or give expressions");
  } else if (several != nullptr && several->is_array() && several->as_array().empty()) {
    review.Add(pointer + "/expressions", Reason::kRequired, "must hold at least one expression");
  }
}

bool CheckZone(Review& review, const std::string& timezone) {
  const auto zone = Zone::Find(timezone);
  if (zone) return true;
  const std::string pointer = "/spec/schedule/cron/timezone";
  if (zone.error().code() == Code::kUnsupported) {
    // The machine that checks need not be the machine that runs.
    review.warnings.push_back(FieldPath(pointer) + ": " + zone.error().message());
  } else {
    review.Add(pointer, Reason::kInvalid, zone.error().message());
  }
  return false;
}

void CheckCron(Review& review, const Json& document, const Json& cron) {
  CheckForms(review, cron);
  const std::string hash_id = HashId(document);
  const CronParseOptions options{.hash_id = hash_id};
  std::vector<std::string> texts;
  bool good = true;
  for (const NamedExpression& expression : ExpressionsOf(cron)) {
    texts.push_back(expression.text);
    const auto parsed = CronExpression::Parse(expression.text, options);
    if (parsed) continue;
    good = false;
    review.Add(expression.pointer, Reason::kInvalid,
               Quoted(expression.text) + " is no cron expression: " + parsed.error().message());
  }
  const std::string* timezone = TextIn(&cron, "timezone");
  const std::string& zone =
      timezone == nullptr || timezone->empty() ? review.context.default_timezone : *timezone;
  good = CheckZone(review, zone) && good && !texts.empty();
  if (!good) return;
  const auto schedule = Schedule::Parse(texts, zone, options);
  if (schedule && !schedule->NextAfter(review.context.now)) {
    review.warnings.push_back("spec.schedule.cron: there is no slot after " +
                              FormatTime(review.context.now));
  }
}

void CheckConstraints(Review& review, const Json* constraints) {
  const std::string* before = TextIn(constraints, "notBefore");
  const std::string* after = TextIn(constraints, "notAfter");
  if (before == nullptr || after == nullptr) return;
  const auto begin = ParseTime(*before);
  const auto end = ParseTime(*after);
  if (!begin || !end || *begin <= *end) return;
  review.Add("/spec/schedule/constraints/notAfter", Reason::kInvalid,
             Quoted(*after) + " must not be earlier than notBefore, " + Quoted(*before));
}

}  // namespace

void CheckJobConfigSpec(Review& review, const Json& document) {
  const Json* spec = ObjectIn(&document, "spec");
  CheckConcurrency(review, ObjectIn(spec, "concurrency"));
  const Json* schedule = ObjectIn(spec, "schedule");
  if (const Json* cron = ObjectIn(schedule, "cron")) CheckCron(review, document, *cron);
  CheckConstraints(review, ObjectIn(schedule, "constraints"));
  const Json* job_template = ObjectIn(spec, "template");
  CheckLabelsAndAnnotations(review, ObjectIn(job_template, "metadata"), "/spec/template/metadata");
  if (const Json* inner = ObjectIn(job_template, "spec")) {
    CheckJobTemplate(review, *inner, "/spec/template/spec");
  }
}

}  // namespace detent
