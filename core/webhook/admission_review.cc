#include "core/webhook/admission_review.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/api/codec.h"
#include "core/api/job_from_config.h"
#include "core/base/json.h"
#include "core/base/json_writer.h"
#include "core/base/limits.h"
#include "core/http/status_error.h"

namespace detent {
namespace {

constexpr const char* kReviewVersion = "admission.k8s.io/v1";
constexpr const char* kReviewKind = "AdmissionReview";
// Deeper than any object may be, so that admission says so, and not the parser.
constexpr size_t kReviewDepth = size_t{4} * limits::kDocumentDepth;

struct Question {
  std::string uid;
  std::string operation;  // "CREATE"
  std::string group, resource, subresource;
  std::string ns, name;
  std::string user;
  std::string validation;  // "Strict", "Warn", "Ignore" or empty.
  Json object;             // Null: none.
  Json old_object;
};

struct Verdict {
  Diagnostics mistakes;
  std::vector<std::string> warnings;
};

std::string TextAt(const Json& json, std::string_view pointer) {
  const Json* found = json.At(pointer);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

Error Malformed(const std::string& what) {
  return Error(Code::kInvalid,
               "the body is no AdmissionReview of " + std::string(kReviewVersion) + ": " + what);
}

// Takes a member out of `request`.
Json TakeMember(Json& request, std::string_view name) {
  Json* found = request.Find(name);
  return found == nullptr ? Json() : std::move(*found);
}

Result<Question> ReadQuestion(std::string_view body) {
  auto review = ParseJson(body, kReviewDepth);
  if (!review) return Malformed(review.error().message());
  if (TextAt(*review, "/kind") != kReviewKind || TextAt(*review, "/apiVersion") != kReviewVersion) {
    return Malformed("apiVersion is '" + TextAt(*review, "/apiVersion") + "' and kind '" +
                     TextAt(*review, "/kind") + "'");
  }
  Json* request = review->Find("request");
  if (request == nullptr || !request->is_object()) return Malformed("request is missing");
  Question question;
  question.uid = TextAt(*request, "/uid");
  question.operation = TextAt(*request, "/operation");
  question.group = TextAt(*request, "/resource/group");
  question.resource = TextAt(*request, "/resource/resource");
  question.subresource = TextAt(*request, "/subResource");
  question.ns = TextAt(*request, "/namespace");
  question.name = TextAt(*request, "/name");
  question.user = TextAt(*request, "/userInfo/username");
  question.validation = TextAt(*request, "/options/fieldValidation");
  question.object = TakeMember(*request, "object");
  question.old_object = TakeMember(*request, "oldObject");
  if (question.uid.empty()) return Malformed("request.uid is missing");
  if (question.operation.empty()) return Malformed("request.operation is missing");
  if (question.resource.empty()) return Malformed("request.resource.resource is missing");
  return question;
}

bool IsBeingDeleted(const Json& object) {
  return !TextAt(object, "/metadata/deletionTimestamp").empty();
}

// The kind, if the question is one for admission.
std::optional<Kind> KindToJudge(const Question& question, const ReviewContext& context) {
  const bool writes = question.operation == "CREATE" || question.operation == "UPDATE";
  if (!writes || question.group != kApiGroup || !question.subresource.empty()) return std::nullopt;
  if (!context.host_user.empty() && question.user == context.host_user) return std::nullopt;
  if (IsBeingDeleted(question.object) || IsBeingDeleted(question.old_object)) return std::nullopt;
  for (const Kind kind : {Kind::kJobConfig, Kind::kJob}) {
    if (question.resource == PluralOf(kind)) return kind;
  }
  return std::nullopt;
}

// The object without what the API server keeps for itself; that may be larger than all the rest.
void Prepare(Json& object, const Question& question) {
  object.Remove("status");
  Json* metadata = object.Find("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  metadata->Remove("managedFields");
  if (metadata->Find("namespace") == nullptr) metadata->Set("namespace", question.ns);
}

// Completes a Job that names a JobConfig, as the host will. Where that is not possible `document`
// stays, and the verdict says why.
void Complete(Json& document, const Question& question, const ReviewContext& context,
              Verdict& verdict) {
  constexpr const char* kPointer = "/spec/configName";
  using Reason = Diagnostic::Reason;
  const std::string name = TextAt(document, kPointer);
  const Json* given = document.At("/spec/template");
  if (name.empty() || (given != nullptr && !given->is_null()) || !context.find_job_config) return;
  const Result<Object> config = context.find_job_config(question.ns, name);
  if (!config && config.error().code() == Code::kNotFound) {
    verdict.mistakes.push_back(
        {kPointer, Reason::kNotFound,
         "there is no JobConfig \"" + name + "\" in namespace \"" + question.ns + "\"", ""});
    return;
  }
  if (!config) {
    verdict.warnings.push_back("spec.configName: JobConfig \"" + name +
                               "\" could not be looked up, and the Job not be checked with it: " +
                               config.error().message());
    return;
  }
  Result<Json> completed = ResolveConfigName(document, *config);
  if (completed) {
    document = *std::move(completed);
    return;
  }
  const bool forbidden = completed.error().code() == Code::kForbidden;
  verdict.mistakes.push_back({kPointer, forbidden ? Reason::kForbidden : Reason::kInvalid,
                              completed.error().message(), ""});
}

void Append(Verdict& verdict, Admission admission) {
  for (Diagnostic& mistake : admission.mistakes) verdict.mistakes.push_back(std::move(mistake));
  for (std::string& warning : admission.warnings) verdict.warnings.push_back(std::move(warning));
}

Verdict JudgeNew(Kind kind, Question& question, const ReviewContext& context) {
  Verdict verdict;
  Prepare(question.object, question);
  if (kind == Kind::kJob) Complete(question.object, question, context, verdict);
  const bool strict = question.validation == "Strict";
  Admission admission = AdmitNew(kind, question.object, context.admission, strict);
  LiveReview(context.live, context.live_patience).Judge(nullptr, question.object, admission);
  Append(verdict, std::move(admission));
  return verdict;
}

Result<Verdict> JudgeUpdate(Kind kind, Question& question, const ReviewContext& context) {
  auto old = ObjectFromCluster(kind, question.old_object);
  if (!old) return Malformed("request.oldObject: " + old.error().message());
  Prepare(question.object, question);
  const bool strict = question.validation == "Strict";
  Verdict verdict;
  Admission admission = AdmitUpdate(*old, question.object, context.admission, strict);
  LiveReview(context.live, context.live_patience).Judge(&*old, question.object, admission);
  Append(verdict, std::move(admission));
  if (verdict.mistakes.empty()) return verdict;
  Prepare(question.old_object, question);
  const Diagnostics before =
      AdmitUpdate(*old, question.old_object, context.admission, strict).mistakes;
  std::erase_if(verdict.mistakes, [&](const Diagnostic& mistake) {
    if (std::find(before.begin(), before.end(), mistake) == before.end()) return false;
    verdict.warnings.push_back(Sentence(mistake));
    return true;
  });
  return verdict;
}

std::string Answer(const Question& question, Kind kind, const Verdict& verdict) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("apiVersion", kReviewVersion).Member("kind", kReviewKind);
  json.Key("response").BeginObject();
  json.Member("uid", question.uid).Member("allowed", verdict.mistakes.empty());
  if (!verdict.mistakes.empty()) {
    std::string name = question.name;
    if (name.empty()) name = TextAt(question.object, "/metadata/name");
    if (name.empty()) name = TextAt(question.object, "/metadata/generateName");
    json.Key("status").Raw(ToJson(Invalid(kind, name, verdict.mistakes)));
  }
  if (!verdict.warnings.empty()) {
    json.Key("warnings").BeginArray();
    for (const std::string& warning : verdict.warnings) json.Value(warning);
    json.EndArray();
  }
  json.EndObject().EndObject();
  return text;
}

}  // namespace

Result<Object> ObjectFromCluster(Kind kind, const Json& document) {
  Object object;
  object.kind = kind;
  const Json* metadata = document.Find("metadata");
  if (metadata == nullptr) return Error(Code::kInvalid, "metadata is missing");
  object.meta = TRY(DecodeMeta(*metadata));
  const Json* spec = document.Find("spec");
  if (spec != nullptr) object.spec = DumpJson(*spec);
  const Json* status = document.Find("status");
  if (status != nullptr) object.status = DumpJson(*status);
  return object;
}

Result<std::string> AnswerReview(std::string_view body, const ReviewContext& context) {
  Question question = TRY(ReadQuestion(body));
  const std::optional<Kind> kind = KindToJudge(question, context);
  if (!kind) return Answer(question, Kind::kJob, {});
  const bool creates = question.operation == "CREATE";
  if (!question.object.is_object()) return Malformed("request.object is missing");
  if (!creates && !question.old_object.is_object()) {
    return Malformed("request.oldObject is missing");
  }
  Verdict verdict =
      creates ? JudgeNew(*kind, question, context) : TRY(JudgeUpdate(*kind, question, context));
  if (question.validation == "Ignore") {
    std::erase_if(verdict.warnings, [](const std::string& warning) {
      return warning.find(": unknown field") != warning.npos;
    });
  }
  return Answer(question, *kind, verdict);
}

}  // namespace detent
