#include "core/net/egress.h"

#include <gtest/gtest.h>

#include "core/net/url.h"

namespace detent {
namespace {

TEST(EgressPolicy, JudgesAddressesByTheirBlocks) {
  EgressPolicy policy;
  ASSERT_TRUE(policy.Allow("10.0.0.0/8"));
  ASSERT_TRUE(policy.Allow("fd00::/8"));
  ASSERT_TRUE(policy.Allow("192.168.1.7"));
  ASSERT_TRUE(policy.Deny("10.1.0.0/17"));
  struct Row {
    const char* address;
    bool permitted;
    const char* because;
  };
  const Row rows[] = {
      {"10.2.3.4", true, "inside an allowed block"},
      {"10.1.127.255", false, "deny wins"},
      {"10.1.128.0", true, "just beyond the denied block"},
      {"11.0.0.1", false, "in no allowed block"},
      {"::ffff:10.2.3.4", true, "IPv4 in IPv6's clothes is IPv4"},
      {"::ffff:10.1.0.1", false, "and cannot slip past a rule"},
      {"fd12::1", true, "an IPv6 block"},
      {"fe80::1", false, "another IPv6 block"},
      {"192.168.1.7", true, "an address alone is a block of one"},
      {"192.168.1.8", false, "and not its neighbour"},
      {"example.org", false, "a name is no address"},
  };
  for (const Row& row : rows) EXPECT_EQ(policy.Permits(row.address), row.permitted) << row.because;
}

TEST(EgressPolicy, AllowsAllThatIsNotDeniedWithoutAnAllowList) {
  EgressPolicy policy;
  EXPECT_TRUE(policy.empty());
  ASSERT_TRUE(policy.Deny("169.254.0.0/16"));
  EXPECT_TRUE(policy.Permits("8.8.8.8"));
  EXPECT_FALSE(policy.Permits("169.254.169.254"));
}

TEST(EgressPolicy, RefusesWhatIsNoBlock) {
  EgressPolicy policy;
  for (const char* text : {"", "10.0.0.0/33", "10.0.0.0/x", "fd00::/129", "host/8", "10.0.0.0/"}) {
    EXPECT_FALSE(policy.Allow(text)) << text;
  }
}

TEST(Url, AcceptsHttpWithoutUserInfo) {
  EXPECT_TRUE(CheckHttpUrl("https://example.org:8443/a?b#c"));
  EXPECT_EQ(HostOf("https://example.org:8443/a?b@c"), "example.org:8443");
  for (const char* url :
       {"", "/a", "ftp://a/", "http:///a", "http://u:p@a/", "http://a/ b", "http://:80/"}) {
    EXPECT_FALSE(CheckHttpUrl(url)) << url;
  }
}

}  // namespace
}  // namespace detent
