// Which URLs are refused, and how parameters get into one.

#include "plugins/http/url.h"

#include <gtest/gtest.h>

namespace detent::http {
namespace {

TEST(HttpUrl, RefusesWhatIsNoRequestToAServer) {
  struct Row {
    const char* url;
    bool good;
    const char* because;
  };
  const Row rows[] = {
      {"http://my-service.default.svc:8080/my-path", true, "the usual"},
      {"HTTPS://H/", true, "schemes have no case"},
      {"http://[::1]:80/x?y=[z]#f", true, "IPv6, and a fragment to drop"},
      {"http://h:/", true, "an empty port is the scheme's"},
      {"ftp://h/", false, "not HTTP"},
      {"file:///etc/passwd", false, "not HTTP"},
      {"//h/p", false, "no scheme"},
      {"", false, "nothing"},
      {"http:///p", false, "no host"},
      {"http://:80/p", false, "no host before the port"},
      {"http://u:p@h/", false, "user info"},
      {"http://good@evil/", false, "user info without a password"},
      {"http://h:0/", false, "port 0"},
      {"http://h:65536/", false, "beyond 16 bits"},
      {"http://h:8x/", false, "no number"},
      {"http://[::1/", false, "no closing bracket"},
      {"http://h/a b", false, "a space"},
      {"http://h/a\r\nX: y", false, "header injection"},
      {"http://h\\@evil/", false, "browsers read it as a slash"},
      {"http://b\xC3\xBC"
       "cher/",
       false, "not ASCII"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(UrlProblem(row.url).empty(), row.good) << row.url << ": " << row.because;
  }
  EXPECT_FALSE(UrlProblem("http://h/" + std::string(kUrlMostBytes, 'a')).empty());
}

TEST(HttpUrl, AddsEachParameterOnce) {
  struct Row {
    const char* url;
    std::vector<NameValue> query;
    const char* wanted;
    const char* because;
  };
  const Row rows[] = {
      {"http://h/p", {}, "http://h/p", "as it was"},
      {"http://h/p#top", {}, "http://h/p", "no fragment on the wire"},
      {"http://h", {{"a", "1"}}, "http://h/?a=1", "a path before the query"},
      {"http://h/p?", {{"a", "1"}}, "http://h/p?a=1", "the mark is there"},
      {"http://h/p#x?y", {{"a", "1"}}, "http://h/p?a=1", "a mark in the fragment is none"},
      {"http://h/?a=1", {{"a", "1"}}, "http://h/?a=1", "the recorded copy"},
      {"http://h/?a=1", {{"a", "2"}}, "http://h/?a=1&a=2", "another value"},
      {"http://h/?a=1", {{"a", "1"}, {"a", "1"}}, "http://h/?a=1&a=1", "one more than is there"},
      {"http://h/?q=a%20b&r=c+d",
       {{"q", "a b"}, {"r", "c d"}},
       "http://h/?q=a%20b&r=c+d",
       "compared decoded"},
      {"http://h/?r=c+d", {{"r", "c+d"}}, "http://h/?r=c+d", "or as it stands"},
      {"http://h/?flag", {{"flag", ""}}, "http://h/?flag", "no value is an empty one"},
      {"http://h/?x=%zz", {{"y", "%"}}, "http://h/?x=%zz&y=%25", "its own bytes stay"},
      {"http://h/",
       {{"n m", "a&b=c+\xC3\xA9/~"}},
       "http://h/?n%20m=a%26b%3Dc%2B%C3%A9%2F~",
       "encoded"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(UrlWithQuery(row.url, row.query), row.wanted) << row.because;
  }
}

TEST(HttpUrl, EncodesFormsAsTheUrlStandardSays) {
  EXPECT_EQ(FormEncode({{"a b", "c&d"}, {"a b", "*-._~"}, {"", ""}}), "a+b=c%26d&a+b=*-._%7E&=");
  EXPECT_EQ(FormEncode({}), "");
}

}  // namespace
}  // namespace detent::http
