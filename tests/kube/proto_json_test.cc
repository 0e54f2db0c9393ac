#include "core/kube/proto_json.h"

#include <gtest/gtest.h>

#include <functional>
#include <protozero/pbf_writer.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/kube/status_reply.h"
#include "core/kube/watch_event.h"
#include "core/kube/watch_pieces.h"
#include "plugins/pod/pod.h"
#include "tests/kube/proto_frames.h"

namespace detent::testing {
namespace {

using protozero::pbf_writer;

const KubeResource kPodsResource{"", "v1", "pods", ""};

std::string Message(const std::function<void(pbf_writer&)>& fill) {
  std::string message;
  pbf_writer writer(message);
  fill(writer);
  return message;
}

std::string JsonOfPod(const std::string& message) {
  std::string json;
  const auto appended = AppendProtoObject(ProtoObject("v1", "Pod", message), json);
  EXPECT_TRUE(appended) << (appended ? "" : appended.error().message());
  return json;
}

// A metav1.Time.
std::string At(int64_t seconds) {
  return Message([&](pbf_writer& time) {
    time.add_int64(1, seconds);
    time.add_int32(2, 5);
  });
}

TEST(ProtoJson, ReadsAllThatTheExecutorOfPodsLooksAt) {
  EXPECT_TRUE(IsReadAsProto(kPodsResource, pod::kPodMembers));
}

TEST(ProtoJson, IsForWhatItKnowsWhole) {
  const struct {
    const char* members;
    bool known;
  } rows[] = {
      {"spec.nodeName", true},
      {"status.containerStatuses.state,status.phase", true},
      {"metadata", true},
      {"metadata.labels", true},
      {"", false},  // All of it.
      {"status", false},
      {"spec.containers", false},
      {"spec.containers.image", false},
      {"status.phase,spec.tolerations", false},
      {"status.phase.more", false},
      {"status.phase,", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(IsReadAsProto(kPodsResource, row.members), row.known) << row.members;
  }
  EXPECT_FALSE(IsReadAsProto({"", "v1", "configmaps", ""}, "metadata.labels"));
  EXPECT_FALSE(IsReadAsProto({"apps", "v1", "pods", ""}, "metadata.labels"));
  EXPECT_FALSE(IsReadAsProto({"", "v2", "pods", ""}, "metadata.labels"));
}

TEST(ProtoJson, SaysTheMetadataAsJsonDoes) {
  const std::string owner = Message([](pbf_writer& reference) {
    reference.add_string(1, "Job");
    reference.add_string(3, "j");
    reference.add_string(4, "u");
    reference.add_string(5, "x/v1");
    reference.add_bool(6, true);
    reference.add_bool(7, false);
  });
  const auto entry = [](const char* key, const char* value) {
    return Message([&](pbf_writer& pair) {
      pair.add_string(1, key);
      pair.add_string(2, value);
    });
  };
  const std::string metadata = Message([&](pbf_writer& meta) {
    meta.add_string(1, "p");
    meta.add_string(2, "");  // Empty, and left out.
    meta.add_string(6, "7");
    meta.add_int64(7, 0);
    meta.add_message(8, At(1'700'000'000));
    meta.add_message(9, At(1'700'000'001));
    meta.add_int64(10, 0);  // A pointer in Go: what is there is said.
    meta.add_message(11, entry("a", "b\"\n\xC3\xBC"));
    meta.add_string(17, "never looked into");
    meta.add_message(11, entry("c", ""));
    meta.add_message(13, owner);
    meta.add_string(14, "f/one");
    meta.add_string(14, "f/two");
    meta.add_string(99, "of a later version");
    meta.add_fixed64(98, 1);
  });
  EXPECT_EQ(JsonOfPod(Message([&](pbf_writer& pod) { pod.add_message(1, metadata); })),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","resourceVersion":"7",)"
            R"("creationTimestamp":"2023-11-14T22:13:20Z","deletionTimestamp":)"
            R"("2023-11-14T22:13:21Z","deletionGracePeriodSeconds":0,"labels":{"a":"b\"\nü",)"
            R"("c":""},"ownerReferences":[{"kind":"Job","name":"j","uid":"u","apiVersion":"x/v1",)"
            R"("controller":true,"blockOwnerDeletion":false}],"finalizers":["f/one","f/two"]}})");
}

TEST(ProtoJson, SaysTheStatusAsJsonDoes) {
  const std::string terminated = Message([](pbf_writer& ended) {
    ended.add_int32(1, -1);
    ended.add_int32(2, 0);
    ended.add_string(5, "");  // Never started.
    ended.add_message(6, At(1'700'000'000));
  });
  const std::string state =
      Message([&](pbf_writer& message) { message.add_message(3, terminated); });
  const std::string container = Message([&](pbf_writer& status) {
    status.add_string(1, "main");
    status.add_message(2, state);
    status.add_string(3, "");
    status.add_bool(4, false);
    status.add_int32(5, 0);
    status.add_string(6, "image");
  });
  const std::string pod = Message([&](pbf_writer& message) {
    message.add_message(3, Message([&](pbf_writer& status) {
                          status.add_string(1, "Failed");
                          status.add_message(8, container);
                        }));
  });
  EXPECT_EQ(JsonOfPod(pod),
            R"({"kind":"Pod","apiVersion":"v1","status":{"phase":"Failed","containerStatuses":)"
            R"([{"name":"main","state":{"terminated":{"exitCode":-1,"startedAt":null,)"
            R"("finishedAt":"2023-11-14T22:13:20Z"}},"lastState":{},"ready":false,)"
            R"("restartCount":0}]}})");
}

TEST(ProtoJson, RefusesWhatIsMalformed) {
  const std::string good = ProtoObject("v1", "Pod", ProtoPod("p", "1", "Running"));
  std::string json;
  ASSERT_TRUE(AppendProtoObject(good, json));
  const struct {
    std::string body;
    const char* why;
  } rows[] = {
      {"", "does not begin"},
      {"{}", "does not begin"},
      {ProtoObject("v1", "Node", ""), "neither a Pod nor a Status"},
      {ProtoObject("v2", "Pod", ""), "neither a Pod nor a Status"},
      {ProtoObject("v1", "Pod", "\x0A"), ""},
      {ProtoObject("v1", "Pod", "\x08\x01"), "a length is missing"},  // A number for metadata.
      {ProtoObject("v1", "Pod", std::string("\x0A\x02\x3A\x00", 4)), "a number is none"},
      {ProtoObject("v1", "Pod", Message([](pbf_writer& pod) {
                     pod.add_message(1, Message([](pbf_writer& meta) {
                                       meta.add_message(8, At(int64_t{1} << 62));
                                     }));
                   })),
       "a time is none"},
      {std::string("k8s\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 15), ""},
  };
  for (const auto& row : rows) {
    const auto appended = AppendProtoObject(row.body, json);
    ASSERT_FALSE(appended) << row.why;
    EXPECT_EQ(appended.error().code(), Code::kInvalid);
    EXPECT_NE(appended.error().message().find(row.why), std::string::npos)
        << appended.error().message();
  }
}

// What is read beyond its end, a sanitizer tells.
TEST(ProtoJson, ReadsOrRefusesWhateverComes) {
  WatchEventReader reader(*WatchShape::Parse("status.phase"));
  const std::string good =
      ProtoEvent("ADDED", ProtoObject("v1", "Pod", ProtoPod("p", "1", "Running")));
  for (size_t size = 0; size < good.size(); ++size) {
    const std::vector<char> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(reader.ReadProtoEvent({cut.data(), cut.size()})) << size;
  }
  std::mt19937 random(1);  // The same bytes each time.
  int read = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::vector<char> changed(good.begin(), good.end());
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    read += reader.ReadProtoEvent({changed.data(), changed.size()}) ? 1 : 0;
  }
  EXPECT_GT(read, 1'000);
  EXPECT_LT(read, 49'000);
}

TEST(ProtoJson, IsReadAsAnEventOfAWatch) {
  WatchEventReader reader(*WatchShape::Parse("status.phase"));
  const auto pod = ProtoObject("v1", "Pod", ProtoPod("p", "7", "Running"));
  const auto upsert = reader.ReadProtoEvent(ProtoEvent("MODIFIED", pod));
  ASSERT_TRUE(upsert) << upsert.error().message();
  EXPECT_EQ(upsert->type, WatchEvent::Type::kUpsert);
  EXPECT_EQ(upsert->resource_version, "7");
  EXPECT_EQ(upsert->object->json(),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns",)"
            R"("uid":"uid-p","resourceVersion":"7"},"status":{"phase":"Running"}})");
  const auto expired = reader.ReadProtoEvent(
      ProtoEvent("ERROR", ProtoObject("v1", "Status", ProtoStatus(410, "Expired", "too old"))));
  ASSERT_TRUE(expired) << expired.error().message();
  EXPECT_EQ(expired->status, 410);
  EXPECT_EQ(expired->reason, "Expired");
  EXPECT_EQ(expired->message, "too old");
  for (const std::string& none : {std::string(), std::string("{}"), ProtoEvent("ADDED", "")}) {
    const auto refused = reader.ReadProtoEvent(none);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("not an event of a watch: "), std::string::npos)
        << refused.error().message();
  }
}

TEST(ProtoJson, TellsWhyARequestWasRefused) {
  HttpReply reply;
  reply.outcome = HttpOutcome::kOk;
  reply.status = 403;
  reply.body = ProtoObject("v1", "Status", ProtoStatus(403, "Forbidden", "pods is forbidden"));
  const KubeReply told = ToKubeReply(std::move(reply));
  EXPECT_EQ(told.outcome, KubeOutcome::kDenied);
  EXPECT_EQ(told.reason, "Forbidden");
  EXPECT_EQ(told.message, "pods is forbidden");
  EXPECT_EQ(told.retry_after, std::chrono::seconds(7));
  HttpReply broken;
  broken.outcome = HttpOutcome::kOk;
  broken.status = 503;
  broken.body = std::string("k8s\0\x0A\xFF", 6);
  EXPECT_EQ(ToKubeReply(std::move(broken)).message, "the server answered 503");
}

}  // namespace
}  // namespace detent::testing
