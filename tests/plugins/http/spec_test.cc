// What may stand in a spec and in the plugin's config, through the border.

#include <gtest/gtest.h>

#include "tests/plugins/findings.h"

namespace detent::testing {
namespace {

constexpr PluginUnderTest kHttp{DETENT_HTTP_PLUGIN, "http"};

void Expect(const std::vector<FindingRow>& rows) {
  ExpectSpecs(kHttp, rows);
}

TEST(HttpSpec, TakesWhatUsersWrite) {
  Expect({
      {R"({"request":{"url":"http://h/"}})", "", "the least"},
      {R"({"request":{"method":"POST","url":"http://h:8080/p","httpVersion":"HTTP/1.1",
           "headers":[{"name":"A","value":"b","comment":"c"},{"name":"A","value":"","_x":1}],
           "queryString":[{"name":"p","value":"v","comment":"c"}],
           "postData":{"mimeType":"application/json","text":"{}","params":[],"comment":"c"},
           "cookies":[{"name":"c","value":"v","path":"/","httpOnly":true,"expires":null}],
           "headersSize":-1,"bodySize":2,"comment":"c","_initiator":{}},
           "timeout":{"connectTimeout":2,"socketTimeout":0.5,"readTimeout":30,"totalTimeout":0},
           "response":{"format":"json","maxBytes":10},"idempotent":true})",
       "", "all of it"},
      {R"({"request":{"url":"${option.base}/p","method":"${option.m}",
           "headers":[{"name":"${option.n}","value":"${option.v}"}],
           "postData":{"mimeType":"${option.t}","text":"${option.t}"}},
           "timeout":{"totalTimeout":"${option.s}"},"idempotent":"${option.i}",
           "response":{"maxBytes":"${option.b}","format":"${option.f}"}})",
       "", "variables are judged once they are filled in"},
      {R"({"request":{"url":"http://h/","headers":[{"name":"Content-Length","value":"3"},
           {"name":":authority","value":"h"}]}})",
       "/request/headers/0/name HeaderIgnored; /request/headers/1/name HeaderIgnored",
       "recorded requests have them"},
  });
}

TEST(HttpSpec, SaysAllMistakesAtOnceWithTheirPlaces) {
  Expect({
      {R"({})", "/request Required", "nothing to send"},
      {R"({"request":{"uri":"http://h/","metod":"GET"},"timeouts":{}})",
       "/request/url Required; /request/uri UnknownField (did you mean `url`?); "
       "/request/metod UnknownField (did you mean `method`?); "
       "/timeouts UnknownField (did you mean `timeout`?)",
       "near names"},
      {R"({"request":{"url":"ftp://h/","method":"CONNECT","httpVersion":"SPDY"}})",
       "/request/method BadValue; /request/url BadValue; "
       "/request/httpVersion UnknownValue (leave it out: HTTP/1.1 is used)",
       "three at once"},
      {R"({"request":{"url":"http://u:p@h/"}})", "/request/url BadValue", "user info"},
      {R"({"request":{"url":"http://h/","headers":[{"name":"A B","value":"x"},
           {"name":"A","value":"x\r\ny"},{"name":"A","valu":"x"},{"name":"A","value":5},7]}})",
       "/request/headers/0/name BadValue; /request/headers/1/value BadValue; "
       "/request/headers/2/valu UnknownField (did you mean `value`?); "
       "/request/headers/2/value Required; "
       "/request/headers/3/value WrongType (put it in quotes); /request/headers/4 WrongType",
       "each header is checked"},
      {R"({"request":{"url":"http://h/","headers":{"A":"b"},"cookies":[{"name":"a","value":";"}]}})",
       "/request/headers WrongType; /request/cookies/0/value BadValue", "lists as in HAR"},
      {R"({"request":{"url":"http://h/"},"timeout":{"connectTimeout":0,"readTimeout":-1,
           "totalTimeout":"5"},"response":{"format":"yaml","maxBytes":0}})",
       "/timeout/connectTimeout OutOfRange; /timeout/readTimeout OutOfRange; "
       "/timeout/totalTimeout WrongType; /response/format UnknownValue; "
       "/response/maxBytes OutOfRange",
       "numbers"},
  });
}

TEST(HttpSpec, RefusesWhatItDoesNotOfferRatherThanIgnoringIt) {
  Expect({
      {R"({"request":{"url":"http://h/"},"response":{"resultJsonPath":".result.jobs"}})",
       "/response/resultJsonPath NotOffered (leave it out; the body is kept in the task's "
       "output)",
       "a condition that is not looked at would be success by mistake"},
      {R"({"request":{"url":"http://h/","postData":{"mimeType":"multipart/form-data",
           "params":[{"name":"f","value":"x","fileName":"a.txt"}]}}})",
       "/request/postData/params/0/fileName NotOffered (send it as `text`); "
       "/request/postData/mimeType NotOffered (give the body as `text`)",
       "no files"},
      {R"({"request":{"url":"http://h/","postData":{"text":"a","params":[{"name":"a","value":""}]}}})",
       "/request/postData/params Conflict", "one of the two"},
  });
}

TEST(HttpSpec, ChecksTheConfigWithPlaces) {
  ExpectConfigs(kHttp,
                {
                    {R"({"maxConnections":8,"maxQueued":0,"userAgent":"","freshConnections":true})",
                     "", "all"},
                    {R"({"maxConnection":1})",
                     "/maxConnection UnknownField (did you mean `maxConnections`?)", "near name"},
                    {R"({"maxConnections":0,"userAgent":"a\nb"})",
                     "/maxConnections OutOfRange; /userAgent BadValue", "values"},
                });
}

TEST(HttpSpec, HasSchemasThatNameEachField) {
  ExpectSchemaFields(kHttp, DETENT_SCHEMA_SPEC, {"request", "timeout", "response", "idempotent"});
  ExpectSchemaFields(
      kHttp, DETENT_SCHEMA_CONFIG,
      {"maxConnections", "maxQueued", "userAgent", "freshConnections", "allow", "deny"});
}

}  // namespace
}  // namespace detent::testing
