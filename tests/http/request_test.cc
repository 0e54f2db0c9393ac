#include "core/http/request.h"

#include <gtest/gtest.h>

#include "core/http/list_options.h"
#include "core/http/media_type.h"
#include "core/http/router.h"

namespace detent {
namespace {

Request To(const std::string& target) {
  Request request;
  request.method = "GET";
  EXPECT_TRUE(SetTarget(request, target)) << target;
  return request;
}

TEST(Request, IsSplitAndDecoded) {
  const Request request = To("/a/b%2Fc/d/?x=1&y=a%20b+c&z&x=2");
  EXPECT_EQ(request.segments, (std::vector<std::string>{"a", "b/c", "d"}));
  EXPECT_EQ(request.ParameterOr("x"), "1");
  EXPECT_EQ(request.ParameterOr("y"), "a b c");
  EXPECT_NE(request.Parameter("z"), nullptr);
  EXPECT_EQ(request.Parameter("w"), nullptr);
  EXPECT_EQ(To("http://host:1/p?q=1").segments, std::vector<std::string>{"p"});
  EXPECT_TRUE(To("http://host").segments.empty());
}

TEST(Request, RefusesTargetsThatAreNone) {
  for (const char* target : {"", "x", "*", "/a%", "/a%2", "/%zz", "/a%00b", "/%ff", "/?a=%00"}) {
    Request request;
    EXPECT_FALSE(SetTarget(request, target)) << target;
  }
}

TEST(Request, HeadersAreFoundInAnyCase) {
  Request request;
  request.headers = {{"Content-Type", "a"}, {"content-type", "b"}};
  EXPECT_EQ(request.Header("CONTENT-type"), "a");
  EXPECT_EQ(request.Header("content"), "");
}

TEST(Router, FindsTheFirstPatternAndItsCaptures) {
  Router router;
  router.Add("GET", "/a/{}/c", [](const Request&, const Router::Captures& captures) {
    return TextResponse(captures[0]);
  });
  router.Add("PUT", "/a/{}/c",
             [](const Request&, const Router::Captures&) { return TextResponse("put"); });
  EXPECT_EQ(router.Dispatch(To("/a/b/c")).body, "b");
  EXPECT_EQ(router.Dispatch(To("/a/b")).status, 404);
  Request wrong = To("/a/b/c");
  wrong.method = "DELETE";
  const Response refused = router.Dispatch(wrong);
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.headers.front(), (std::pair<std::string, std::string>("Allow", "GET, PUT")));
}

TEST(MediaType, AFormIsTakenInTheClientsOrder) {
  struct Row {
    const char* accept;
    std::optional<Form> form;
    const char* because;
  };
  const Row rows[] = {
      {"", Form::kObject, "anything goes"},
      {"*/*", Form::kObject, "anything goes"},
      {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Form::kTable, "kubectl"},
      {"application/json, application/json;as=Table;v=v1;g=meta.k8s.io", Form::kObject, "order"},
      {"application/json;as=Table;v=v9;g=meta.k8s.io, application/json", Form::kObject, "unknown"},
      {"application/vnd.kubernetes.protobuf, application/json", Form::kObject, "not spoken"},
      {"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", Form::kMetadata, ""},
      {"application/json;q=0", Form::kObject, "q=0 leaves nothing asked for"},
      {"application/json;stream=watch", Form::kObject, "of watches"},
      {"text/html", std::nullopt, "not spoken"},
      {"application/json;as=Table;v=v9;g=meta.k8s.io", std::nullopt, "unknown version"},
  };
  for (const Row& row : rows) {
    const std::optional<Negotiated> negotiated = NegotiateForm(row.accept);
    ASSERT_EQ(negotiated.has_value(), row.form.has_value()) << row.accept;
    if (!row.form) continue;
    EXPECT_EQ(negotiated->form, *row.form) << row.accept << row.because;
  }
}

TEST(ListOptions, AContinueTokenComesBackAsItWas) {
  const ContinueToken token{42, "default", "a-name"};
  const std::optional<ContinueToken> read = ContinueToken::Decode(token.Encode());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->version, 42);
  EXPECT_EQ(read->ns, "default");
  EXPECT_EQ(read->name, "a-name");
  for (const char* text : {"", "?", "e30", "AAAA", "bnVsbA"}) {
    EXPECT_FALSE(ContinueToken::Decode(text)) << text;
  }
}

TEST(ListOptions, RefusesWhatContradictsItself) {
  struct Row {
    const char* query;
    int status;
  };
  const Row rows[] = {
      {"limit=x", 400},
      {"limit=-1", 400},
      {"resourceVersion=abc", 400},
      {"continue=!!", 400},
      {"resourceVersionMatch=Exact", 422},
      {"resourceVersionMatch=Exact&resourceVersion=0", 422},
      {"resourceVersionMatch=Perhaps&resourceVersion=1", 422},
      {"sendInitialEvents=true", 422},
      {"watch=true&sendInitialEvents=true", 422},
      {"watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1", 422},
  };
  for (const Row& row : rows) {
    const auto options = ReadListOptions(Kind::kJob, To(std::string("/?") + row.query));
    ASSERT_FALSE(options) << row.query;
    EXPECT_EQ(options.error().code, row.status) << row.query;
  }
  EXPECT_TRUE(ReadListOptions(Kind::kJob, To("/?limit=5&watch=0&resourceVersion=7")));
}

}  // namespace
}  // namespace detent
