#include "core/kube/watch_scope.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

WatchScope PodsOf(const std::string& labels, const std::string& fields = "") {
  return {{"", "v1", "pods", ""}, "ns", labels, fields};
}

TEST(WatchScope, TakesEveryFormOfASelector) {
  for (const char* labels :
       {"", "a=b", "a==b", "a!=b", "a", "!a", "a in (b,c)", "a notin (b)", "a=b,c in (d, e),!f",
        " a = b , c ", "x.io/a=b", "a=", "a>1", "a<2", "a in ()"}) {
    const auto good = CheckWatchScope(PodsOf(labels));
    EXPECT_TRUE(good) << labels << ": " << (good ? "" : good.error().message());
  }
  for (const char* fields : {"", "metadata.name=a", "status.phase!=Running,spec.nodeName=", "a==b",
                             R"(metadata.name=a\,b)"}) {
    EXPECT_TRUE(CheckWatchScope(PodsOf("", fields))) << fields;
  }
}

TEST(WatchScope, NamesWhatTheServerWouldRefuse) {
  const struct {
    WatchScope scope;
    const char* message;
  } rows[] = {
      {PodsOf("a=b,"), "label selector: "},
      {PodsOf("a=b c"), "label selector: "},
      {PodsOf("a in b"), "label selector: "},
      {PodsOf("a in (b"), "label selector: "},
      {PodsOf("a of (b)"), "label selector: "},
      {PodsOf("=b"), "label selector: "},
      {PodsOf("a!b"), "label selector: "},
      {PodsOf("a=b\nc"), "label selector: "},
      {PodsOf("a=\xFF"), "label selector: "},
      {PodsOf(std::string(10'000, 'a')), "label selector: "},
      {PodsOf("", "metadata.name"), "field selector: "},
      {PodsOf("", "=a"), "field selector: "},
      {PodsOf("", "!=a"), "field selector: "},
      {{{"", "v1", "pods", "status"}, "", "", ""}, "gvr: "},
      {{{"", "v1", "pods", ""}, "Name Space", "", ""}, "namespace: "},
  };
  for (const auto& row : rows) {
    const auto good = CheckWatchScope(row.scope);
    ASSERT_FALSE(good) << row.scope.label_selector << row.scope.field_selector;
    EXPECT_EQ(good.error().message().rfind(row.message, 0), 0u) << good.error().message();
  }
}

TEST(WatchScope, BecomesAPathWithItsSelectors) {
  EXPECT_EQ(PathOf(PodsOf("")), "/api/v1/namespaces/ns/pods");
  EXPECT_EQ(PathOf(PodsOf("a=b", "c=d")),
            "/api/v1/namespaces/ns/pods?labelSelector=a%3Db&fieldSelector=c%3Dd");
}

}  // namespace
}  // namespace detent
