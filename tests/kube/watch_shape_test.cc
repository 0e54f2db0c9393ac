#include "core/kube/watch_shape.h"

#include <gtest/gtest.h>

#include "core/kube/watch_event.h"
#include "core/kube/watch_scope.h"

namespace detent {
namespace {

std::string Kept(const std::string& only, const std::string& object) {
  auto shape = WatchShape::Parse(only);
  if (!shape) return shape.error().message();
  WatchEventReader reader(*std::move(shape));
  const auto event = reader.ReadEvent(R"({"type":"ADDED","object":)" + object + "}");
  return event ? std::string(event->object->json()) : event.error().message();
}

TEST(WatchShape, KeepsWhatIsAskedForAndWhatAnObjectIs) {
  const std::string type = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
                           R"("resourceVersion":"7","managedFields":[1]},)";
  const std::string kept = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
                           R"("resourceVersion":"7"})";
  const std::string rest = R"("spec":{"node":"n","c":[{"name":"a","env":[{"x":1}]},{"env":[]},5]},)"
                           R"("status":{"phase":"Failed","c":[],"more":{"x":1}},"message":"m"})";
  const struct {
    const char* only;
    const char* behind;
    const char* because;
  } rows[] = {
      {"status", R"(,"status":{"phase":"Failed","c":[],"more":{"x":1}}})",
       "a member with all in it"},
      {"status.phase,spec.node", R"(,"spec":{"node":"n"},"status":{"phase":"Failed"}})",
       "members of members"},
      {"spec.c.name", R"(,"spec":{"c":[{"name":"a"},{},5]}})", "lists are looked through"},
      {"status.phase,status", R"(,"status":{"phase":"Failed","c":[],"more":{"x":1}}})",
       "all and a part is all"},
      {"status,status.phase", R"(,"status":{"phase":"Failed","c":[],"more":{"x":1}}})",
       "in either order"},
      {"status.c.x,status.more.y", R"(,"status":{"c":[],"more":{}}})",
       "of what is not there, nothing"},
      {"message", R"(,"message":"m"})", "a name that a Status has, too"},
      {"nothing", "}", "a member that is not there"},
      {"metadata.name", "}", "the metadata is whole anyway"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Kept(row.only, type + rest), kept + row.behind) << row.because;
  }
  EXPECT_EQ(Kept("", type + rest), kept + "," + rest) << "no shape: all of it";
}

TEST(WatchShape, LeavesWhatAnEventSaysItselfAlone) {
  WatchEventReader reader(*WatchShape::Parse("spec.n"));
  const auto gone = reader.ReadEvent(
      R"({"object":{"kind":"Status","code":410,"reason":"Expired","message":"old"},)"
      R"("type":"ERROR"})");
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->status, 410);
  EXPECT_EQ(gone->reason + ": " + gone->message, "Expired: old");
  const auto page = ReadListPage(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":)"
      R"([{"metadata":{"name":"a"},"spec":{"n":1,"m":2}}]})",
      *WatchShape::Parse("spec.n"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->objects.at(0)->json(),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"n":1}})");
}

TEST(WatchShape, RefusesNamesThatAreNone) {
  for (const char* only : {",", "a,", ",a", "a..b", ".a", "a.", "a,,b"}) {
    EXPECT_EQ(Kept(only, "{}").rfind("only: a member without a name", 0), 0u) << only;
    WatchScope scope{{"", "v1", "pods", ""}, "", "", "", only};
    EXPECT_FALSE(CheckWatchScope(scope)) << only;
  }
  EXPECT_EQ(Kept(std::string(5000, 'a'), "{}"), "only: has more than 4096 bytes");
}

}  // namespace
}  // namespace detent
