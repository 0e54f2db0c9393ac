// What of a request goes on the wire.

#include "plugins/http/wire.h"

#include <gtest/gtest.h>

#include "plugins/http/plan.h"

namespace detent::http {
namespace {

std::string Lines(const std::vector<NameValue>& headers) {
  std::string all;
  for (const NameValue& header : headers) all += header.name + ": " + header.value + "\n";
  return all;
}

HttpSpec Spec() {
  HttpSpec spec;
  spec.url = "http://h/";
  return spec;
}

TEST(HttpWire, KeepsOrderCaseAndRepetitionsOfHeaders) {
  HttpSpec spec = Spec();
  spec.headers = {{"X-b", " 1\t"}, {"x-A", ""}, {"X-b", "2"}};
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "X-b: 1\nx-A: \nX-b: 2\n");
}

TEST(HttpWire, AddsItsNameUnlessThereIsOne) {
  HttpSpec spec = Spec();
  EXPECT_EQ(Lines(ToWire(spec, "me/1").headers), "User-Agent: me/1\n");
  spec.headers = {{"user-agent", "you"}};
  EXPECT_EQ(Lines(ToWire(spec, "me/1").headers), "user-agent: you\n");
}

TEST(HttpWire, SendsTheBodyWithItsType) {
  HttpSpec spec = Spec();
  spec.text = "{}";
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "") << "nothing is guessed";
  spec.mime_type = "application/json";
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "Content-Type: application/json\n");
  spec.headers = {{"content-type", "text/x"}};
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "content-type: text/x\n") << "the header wins";
  EXPECT_EQ(ToWire(spec, "").body, "{}");

  HttpSpec form = Spec();
  form.has_params = true;
  form.params = {{"a", "1 2"}, {"a", "3"}};
  EXPECT_EQ(Lines(ToWire(form, "").headers), "Content-Type: application/x-www-form-urlencoded\n");
  EXPECT_EQ(ToWire(form, "").body, "a=1+2&a=3");
}

TEST(HttpWire, JoinsCookiesBesideThoseOfTheHeader) {
  HttpSpec spec = Spec();
  spec.cookies = {{"a", "1"}, {"b", "2"}, {"s", "3", true}};
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "Cookie: a=1; b=2\n");
  spec.headers = {{"cookie", "b=9;c=8"}};
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "cookie: b=9;c=8; a=1\n");
  spec.url = "https://h/";
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "cookie: b=9;c=8; a=1; s=3\n");
}

TEST(HttpWire, AcceptsOnlyEncodingsThatTheHostDecodes) {
  HttpSpec spec = Spec();
  spec.headers = {{"Accept-Encoding", "gzip, br, zstd"}};
  EXPECT_TRUE(ToWire(spec, "").decode);
  EXPECT_EQ(Lines(ToWire(spec, "").headers), "");
  spec.headers = {{"Accept-Encoding", "br"}};
  EXPECT_FALSE(ToWire(spec, "").decode);
}

TEST(HttpWire, JudgesMethodsHeadersAndCookies) {
  for (const char* good : {"GET", "PROPFIND", "get", "M-SEARCH"}) {
    EXPECT_EQ(MethodProblem(good), "") << good;
  }
  for (const char* bad : {"", "CONNECT", "trace", "A B", "G\xC3\x89T", "A:"}) {
    EXPECT_NE(MethodProblem(bad), "") << bad;
  }
  EXPECT_EQ(HeaderValueProblem("a\tb \xC3\xA9"), "");
  for (const std::string& bad :
       {std::string("a\r\nb"), std::string("a\nb"), std::string("\0", 1)}) {
    EXPECT_NE(HeaderValueProblem(bad), "");
  }
  for (const char* good : {"", "a=b", "\"quoted\"", "%20"}) EXPECT_EQ(CookieValueProblem(good), "");
  for (const char* bad : {"a;b", "a b", "a,b", "a\"b", "\\"})
    EXPECT_NE(CookieValueProblem(bad), "");
  for (const char* name : {":path", "content-length", "TE", "Transfer-Encoding", "upgrade"}) {
    EXPECT_TRUE(IsLeftToTheHost(name)) << name;
  }
  EXPECT_FALSE(IsLeftToTheHost("Host"));
  EXPECT_TRUE(CharsetFits("text/plain; charset=UTF-8", "\xC3\xA9"));
  EXPECT_TRUE(CharsetFits("text/plain; charset=iso-8859-1", "e"));
  EXPECT_FALSE(CharsetFits("text/plain; charset=iso-8859-1", "\xC3\xA9"));
  EXPECT_FALSE(CharsetFits("text/plain; charset=utf-16", "e"));
}

TEST(HttpWire, MakesARequestThatTheHostTakes) {
  HttpSpec spec = Spec();
  spec.method = "PUT";
  spec.text = "body";
  spec.read_ms = 5;
  HttpConfig config;
  config.fresh_connections = true;
  config.allow = {"10.0.0.0/8"};
  config.deny = {"10.1.0.0/16", "::/0"};
  const Plan plan(spec, config);
  const detent_http_request& request = plan.request();
  EXPECT_EQ(request.flags, DETENT_HTTP_FRESH_CONNECTION);
  EXPECT_EQ(request.version, DETENT_HTTP_VERSION_1_1);
  EXPECT_EQ(request.read_timeout_ms, 5u);
  EXPECT_EQ(request.body.len, 4u);
  ASSERT_NE(request.policy, nullptr);
  EXPECT_EQ(request.policy->allow_count, 1u);
  ASSERT_EQ(request.policy->deny_count, 2u);
  EXPECT_EQ(std::string(request.policy->deny[1]->ptr, request.policy->deny[1]->len), "::/0");
  EXPECT_TRUE(plan.rerun_safe());
}

TEST(HttpWire, KnowsWhichRequestsMayBeSentAgain) {
  HttpSpec spec = Spec();
  for (const char* safe : {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}) {
    spec.method = safe;
    EXPECT_TRUE(IsRerunSafe(spec)) << safe;
  }
  for (const char* unsafe : {"POST", "PATCH", "get", "PURGE"}) {
    spec.method = unsafe;
    EXPECT_FALSE(IsRerunSafe(spec)) << unsafe;
  }
  spec.idempotent = true;
  EXPECT_TRUE(IsRerunSafe(spec));
  spec.method = "GET";
  spec.idempotent = false;
  EXPECT_FALSE(IsRerunSafe(spec)) << "who says so knows better";
}

}  // namespace
}  // namespace detent::http
