#include "core/http/status_error.h"

#include <gtest/gtest.h>

#include "core/base/json.h"

namespace detent {
namespace {

Json Parsed(const ApiStatus& status) {
  return ParseJson(ToJson(status)).value();
}

TEST(StatusError, SaysWhatKubernetesSays) {
  struct Row {
    ApiStatus status;
    int code;
    const char* reason;
    const char* message;
  };
  const Row rows[] = {
      {NotFound(Kind::kJob, "x"), 404, "NotFound", "jobs.execution.detent.dev \"x\" not found"},
      {AlreadyExists(Kind::kTask, "x"), 409, "AlreadyExists",
       "tasks.execution.detent.dev \"x\" already exists"},
      {Modified(Kind::kJobConfig, "x"), 409, "Conflict",
       "Operation cannot be fulfilled on jobconfigs.execution.detent.dev \"x\": the object has "
       "been modified; please apply your changes to the latest version and try again"},
      {NoSuchPath(), 404, "NotFound", "the server could not find the requested resource"},
      {Unauthorized(), 401, "Unauthorized", "Unauthorized"},
      {MethodNotAllowed(), 405, "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
      {RequestTooLarge(7), 413, "RequestEntityTooLarge", "Request entity too large: limit is 7"},
      {Internal("x"), 500, "InternalError", "Internal error occurred: x"},
  };
  for (const Row& row : rows) {
    const Json json = Parsed(row.status);
    EXPECT_EQ(json.Find("kind")->as_string(), "Status");
    EXPECT_EQ(json.Find("status")->as_string(), "Failure");
    EXPECT_EQ(json.Find("code")->as_int(), row.code);
    EXPECT_EQ(json.Find("reason")->as_string(), row.reason);
    EXPECT_EQ(json.Find("message")->as_string(), row.message);
  }
}

TEST(StatusError, AnInvalidObjectHasACauseForEachMistake) {
  const ApiStatus status =
      Invalid(Kind::kJob, "x",
              {{"/spec/a/0", Diagnostic::Reason::kRequired, "is required", ""},
               {"/spec/b", Diagnostic::Reason::kNotSupported, "must be A", "did you mean 'A'?"}});
  EXPECT_EQ(status.message,
            "Job.execution.detent.dev \"x\" is invalid: [spec.a[0]: Required value: is required, "
            "spec.b: Unsupported value: must be A (did you mean 'A'?)]");
  const Json json = Parsed(status);
  EXPECT_EQ(json.At("/details/kind")->as_string(), "Job");
  EXPECT_EQ(json.At("/details/causes/0/field")->as_string(), "spec.a[0]");
  EXPECT_EQ(json.At("/details/causes/0/reason")->as_string(), "FieldValueRequired");
  EXPECT_EQ(json.At("/details/causes/1/reason")->as_string(), "FieldValueNotSupported");
}

TEST(StatusError, ABusyServerSaysWhenToComeBack) {
  const Response response = TooManyRequests(3);
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers.front(), (std::pair<std::string, std::string>("Retry-After", "3")));
}

}  // namespace
}  // namespace detent
