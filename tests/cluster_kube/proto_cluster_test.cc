// The same Pods, followed as protobuf and as JSON in front of a real API server, are the same.

#include <gtest/gtest.h>

#include <map>

#include "core/base/json.h"
#include "core/kube/watch.h"
#include "plugins/pod/pod.h"
#include "tests/cluster_kube/own_namespace.h"
#include "tests/kube/watch_listener.h"

namespace detent::testing {
namespace {

// What it means: the order of members is free, and of what there is not JSON says null or nothing.
Json MeaningOf(const Json& value) {
  if (value.is_object()) {
    std::map<std::string, Json> members;
    for (const auto& [name, member] : value.as_object()) {
      if (!member.is_null()) members[name] = MeaningOf(member);
    }
    return Json::Object(members.begin(), members.end());
  }
  if (!value.is_array()) return value;
  Json::Array items;
  for (const Json& item : value.as_array()) items.push_back(MeaningOf(item));
  return items;
}

class ProtoCluster : public OwnNamespace {
 protected:
  void Expect(int status, const char* method, const std::string& path, const std::string& body) {
    const KubeReply reply = client_->Fetch(Ask(method, path, body));
    EXPECT_EQ(reply.status, status) << path << ": " << reply.message;
  }
  std::string Pods(const std::string& behind = "") const { return path_ + "/pods" + behind; }
  // Both have the newest of all Pods, and the same of each.
  void ExpectSame() {
    const auto versions = VersionsOf(Pods());
    ASSERT_TRUE(proto_.WaitVersions(versions));
    ASSERT_TRUE(json_.WaitVersions(versions));
    for (const auto& [name, version] : versions) {
      const auto proto = ParseJson(proto_.Of(name)->json());
      const auto json = ParseJson(json_.Of(name)->json());
      ASSERT_TRUE(proto && json) << proto_.Of(name)->json();
      EXPECT_EQ(DumpJson(MeaningOf(*proto)), DumpJson(MeaningOf(*json)));
      EXPECT_EQ(proto_.Of(name)->uid(), json_.Of(name)->uid());
      EXPECT_EQ(proto_.Of(name)->task_key(), json_.Of(name)->task_key());
    }
  }

  WatchListener proto_, json_;
};

constexpr const char* kMetadata =
    R"("labels":{"detent.dev/task":"k.1.1","empty":""},"annotations":{"text":"ü \" \\ \n \u0001"},)"
    R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u",)"
    R"("controller":true,"blockOwnerDeletion":false},{"apiVersion":"v1","kind":"ConfigMap",)"
    R"("name":"p","uid":"w"}],"finalizers":["detent.dev/task-tracking","example.com/other"])";

constexpr const char* kSpec =
    R"("spec":{"activeDeadlineSeconds":3600,"terminationGracePeriodSeconds":5,"schedulerName":)"
    R"("nobody","initContainers":[{"name":"i","image":"x"},{"name":"s","image":"x",)"
    R"("restartPolicy":"Always"}],"containers":[{"name":"main","image":"x","env":[{"name":"A",)"
    R"("value":"b"}]},{"name":"other","image":"x"}]})";

constexpr const char* kStatuses[] = {
    R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":)"
    R"("Unschedulable","message":"0/2 nodes are available: ü","lastTransitionTime":)"
    R"("2026-01-02T03:04:05Z"},{"type":"X","status":"Unknown","observedGeneration":2}]})",
    R"({"phase":"Running","podIP":"10.0.0.1","startTime":"2026-01-02T03:04:05Z",)"
    R"("initContainerStatuses":[{"name":"i","image":"x","imageID":"","ready":true,)"
    R"("restartCount":0,"state":{"terminated":{"exitCode":0,"reason":"Completed",)"
    R"("startedAt":"2026-01-02T03:04:05Z","finishedAt":"2026-01-02T03:04:06Z"}},)"
    R"("lastState":{}}],"containerStatuses":[{"name":"main","image":"x","imageID":"",)"
    R"("ready":false,"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff","message":)"
    R"("back-off"}},"lastState":{"terminated":{"exitCode":137,"signal":9,"reason":"OOMKilled",)"
    R"("containerID":"containerd://1"}}},{"name":"other","image":"x","imageID":"","ready":true,)"
    R"("restartCount":0,"state":{"running":{"startedAt":"2026-01-02T03:04:07Z"}}}]})",
    R"({"phase":"Failed","reason":"Evicted","message":"{\"a\":1}\n","containerStatuses":)"
    R"([{"name":"main","image":"x","imageID":"","ready":false,"restartCount":3,"state":)"
    R"({"terminated":{"exitCode":-1,"message":"the end ü\n","finishedAt":null}}}]})"};

TEST_F(ProtoCluster, TellsWhatJsonTells) {
  const WatchScope scope{{"", "v1", "pods", ""}, ns_, "", "", std::string(pod::kPodMembers)};
  WatchOptions in_json;
  in_json.protobuf = false;
  KubeWatch as_proto(*client_, scope, {}, proto_), as_json(*client_, scope, in_json, json_);
  // One that is there when the list begins, and more behind it.
  const auto create = [&](const std::string& name) {
    Expect(201, "POST", Pods(),
           R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + "\"," + kMetadata +
               "}," + kSpec + "}");
  };
  create("first");
  as_proto.Start();
  as_json.Start();
  ASSERT_TRUE(proto_.WaitSynced());
  ASSERT_TRUE(json_.WaitSynced());
  EXPECT_EQ(proto_.TakeTold(), "+first synced");
  create("second");
  ExpectSame();
  for (const char* status : kStatuses) {
    for (const char* name : {"/first/status", "/second/status"}) {
      Expect(200, "PATCH", Pods(name), std::string("{\"status\":") + status + "}");
    }
    ExpectSame();
  }
  const auto failed = pod::ReadPod(proto_.Of("first")->json());
  ASSERT_TRUE(failed);
  ASSERT_EQ(failed->containers.size(), 4u);
  EXPECT_EQ(failed->message, "{\"a\":1}\n");
  // It has finalizers: what follows is its deletion, then its end.
  Expect(200, "DELETE", Pods("/first"), "");
  ExpectSame();
  EXPECT_NE(proto_.Of("first")->json().find("deletionTimestamp"), std::string::npos);
  for (const char* name : {"/first", "/second"}) {
    Expect(200, "PATCH", Pods(name), R"({"metadata":{"finalizers":null,"labels":null}})");
  }
  EXPECT_TRUE(proto_.WaitTold("-first"));
  EXPECT_TRUE(json_.WaitTold("-first"));
  ExpectSame();
}

TEST_F(ProtoCluster, TellsWhyItMayNotFollow) {
  ClusterAccess access = access_;
  access.impersonation.user = "nobody";
  KubeClient nobody(access, {}, clock_, log_);
  KubeWatch watch(nobody, {{"", "v1", "pods", ""}, ns_, "", "", "status.phase"}, {}, proto_);
  watch.Start();
  ASSERT_TRUE(proto_.WaitFailed());
  EXPECT_EQ(proto_.TakeTold(), "failed: Forbidden");
  watch.Look([&](const KubeWatch::View& view) {
    ASSERT_NE(view.failure, nullptr);
    EXPECT_NE(view.failure->message.find("User \"nobody\" cannot"), std::string::npos)
        << view.failure->message;
  });
}

}  // namespace
}  // namespace detent::testing
