// What a watch costs, run by hand (--gtest_also_run_disabled_tests): figures depend on the machine,
// so nothing is demanded of them here.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "core/base/json.h"
#include "core/kube/tracking.h"
#include "core/kube/watch.h"
#include "core/kube/watch_hub.h"
#include "tests/kube/watch_fixture.h"

namespace detent::testing {
namespace {

constexpr int kPods = 100'000;

double ThreadMicros() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

size_t ResidentBytes() {
  size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * 4096;
}

// A running Pod as a kubelet leaves it, 2 KiB, and 1 KiB of managedFields.
std::string PodJson(int number, int version) {
  const std::string id = std::to_string(number);
  const std::string name = "job-with-a-name-" + id + "-1";
  std::string managed;
  for (int i = 0; i < 5; ++i) {
    managed += std::string(i == 0 ? "" : ",") +
               R"({"manager":"kubelet","operation":"Update","apiVersion":"v1","time":)"
               R"("2026-11-21T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":)"
               R"({"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:type":{}}}}}})";
  }
  std::string conditions;
  for (const char* type : {"Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    conditions += std::string(conditions.empty() ? "" : ",") + R"({"type":")" + type +
                  R"(","status":"True","lastProbeTime":null,"lastTransitionTime":)"
                  R"("2026-11-21T10:00:00Z"})";
  }
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"default","uid":"3c2c1f6e-0f0e-4d0e-8d63-)" +
         std::to_string(100'000'000'000 + number) + R"(","resourceVersion":")" +
         std::to_string(version) +
         R"(","creationTimestamp":"2026-11-21T10:00:00Z","labels":{"app":"x","detent.dev/task":)"
         R"("0a1b2c3d-1111-2222-3333-444455556666.)" +
         id +
         R"(.1","detent.dev/tracked-by":"host-1","execution.detent.dev/job":"job-with-a-name"},)"
         R"("finalizers":["detent.dev/task-tracking"],"managedFields":[)" +
         managed +
         R"(]},"spec":{"volumes":[],"containers":[{"name":"main","image":"test/a/b:1.2.3",)"
         R"("command":["/bin/sh","-c","echo hello world; sleep 10; exit 0"],"env":[{"name":"A",)"
         R"("value":"1"},{"name":"B","value":"2"}],"resources":{"limits":{"cpu":"100m","memory":)"
         R"("64Mi"},"requests":{"cpu":"100m","memory":"64Mi"}},"terminationMessagePath":)"
         R"("/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":)"
         R"("IfNotPresent"}],"restartPolicy":"Never","terminationGracePeriodSeconds":30,)"
         R"("dnsPolicy":"ClusterFirst","serviceAccountName":"default","nodeName":"node-17",)"
         R"("securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":)"
         R"("node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
         R"("tolerationSeconds":300}],"priority":0,"enableServiceLinks":true},"status":{"phase":)"
         R"("Running","conditions":[)" +
         conditions +
         R"(],"hostIP":"10.0.0.17","podIP":"10.88.3.4","startTime":"2026-11-21T10:00:00Z",)"
         R"("containerStatuses":[{"name":"main","state":{"running":{"startedAt":)"
         R"("2026-11-21T10:00:01Z"}},"ready":true,"restartCount":0,"image":)"
         R"("registry.test/a/b:1.2.3","containerID":"containerd://0123456789abcdef"}],)"
         R"("qosClass":"Guaranteed"}})";
}

std::string PodLine(const char* type, int number, int version) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + PodJson(number, version) + "}\n";
}

// Answers the first request with a watch that says all pods, their end, and then all again in
// another state; and keeps the connection open.
class PodStream {
 public:
  PodStream() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
    listen(listener_, 4);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~PodStream() {
    shutdown(listener_, SHUT_RDWR);
    if (connection_ >= 0) shutdown(connection_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    close(connection_);
  }
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void Serve() {
    connection_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    char buffer[4096];
    if (recv(connection_, buffer, sizeof buffer, 0) <= 0) return;
    std::string out = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    const auto flush = [&](size_t least) {
      while (out.size() > least) {
        const ssize_t sent = send(connection_, out.data(), out.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        out.erase(0, static_cast<size_t>(sent));
      }
    };
    for (int i = 0; i < kPods; ++i) {
      out += PodLine("ADDED", i, 1000 + i);
      flush(256 * 1024);
    }
    out += R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"200000","annotations":)"
           R"({"k8s.io/initial-events-end":"true"}}}})"
           "\n";
    for (int i = 0; i < kPods; ++i) {
      out += PodLine("MODIFIED", i, 300'000 + i);
      flush(256 * 1024);
    }
    flush(0);
    while (recv(connection_, buffer, sizeof buffer, 0) > 0) {
    }
  }

  int listener_ = -1, connection_ = -1;
  int port_ = 0;
  std::thread thread_;
};

// Takes the time of the thread that calls.
class Clocking final : public WatchSink {
 public:
  void OnUpsert(const WatchedObjectPtr&) override {
    if (count_++ == 0) began_ = ThreadMicros();
    if (count_ == 2 * kPods) Done();
  }
  void OnDelete(const WatchedObjectPtr&) override {}
  void OnSynced() override { synced_ = ThreadMicros(); }
  void OnFailed(const KubeReply&) override {}
  void Done() {
    std::lock_guard lock(mutex_);
    ended_ = ThreadMicros();
    done_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
  }
  double of_new() const { return (synced_ - began_) / kPods; }
  double of_known() const { return (ended_ - synced_) / kPods; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  int count_ = 0;
  double began_ = 0, synced_ = 0, ended_ = 0;
};

template <typename Work>
double MicrosEach(int times, Work&& work) {
  const double began = ThreadMicros();
  for (int i = 0; i < times; ++i) work();
  return (ThreadMicros() - began) / times;
}

TEST(WatchCost, DISABLED_OfAHundredThousandPods) {
  const size_t line = PodLine("ADDED", 0, 0).size();
  const size_t before = ResidentBytes();
  SystemClock clock;
  Logger log(LogLevel::kError, [](std::string_view) {});
  PodStream pods;
  ClusterAccess access;
  access.server = pods.Url();
  KubeClient client(access, {}, clock, log);
  WatchHub hub(client, {});
  Clocking clocking;
  const auto place = hub.Subscribe({{"", "v1", "pods", ""}, "", "", ""}, clocking);
  clocking.Wait();
  const WatchHubStats stats = hub.stats();
  malloc_trim(0);
  const size_t resident = ResidentBytes() - before;
  std::printf(
      "an event of %zu bytes: %.1f us of a new pod, %.1f us of a known one "
      "(the client's thread: receive, read, keep, tell)\n",
      line, clocking.of_new(), clocking.of_known());
  std::printf("%zu pods: %.1f MiB of text, %.1f MiB resident, %zu bytes each beside the text\n",
              stats.objects, static_cast<double>(stats.bytes) / 1048576,
              static_cast<double>(resident) / 1048576, (resident - stats.bytes) / stats.objects);
}

TEST(WatchCost, DISABLED_OfItsParts) {
  const std::string line = PodLine("MODIFIED", 1, 2), pod = PodJson(1, 2);
  WatchEventReader reader;
  std::printf("ReadEvent of %zu bytes: %.2f us\n", line.size(),
              MicrosEach(100'000, [&] { ASSERT_TRUE(reader.ReadEvent(line)); }));
  std::printf("ParseJson of the same: %.2f us\n",
              MicrosEach(20'000, [&] { ASSERT_TRUE(ParseJson(pod)); }));
  std::printf("ReadTracked of %zu bytes: %.2f us\n", pod.size(),
              MicrosEach(100'000, [&] { ASSERT_TRUE(ReadTracked(pod)); }));
  Json small = *ParseJson(pod);
  small.Remove("status");
  small.Find("metadata")->Remove("managedFields");
  small.Find("spec")->Remove("tolerations");
  const std::string body = DumpJson(small);
  TrackingMarks marks;
  marks.task = {"0a1b2c3d-1111-2222-3333-444455556666.7.1", "n", "default", "job", "uid", 7, 1};
  marks.host_id = "host-1";
  std::printf("WithTracking of %zu bytes: %.2f us\n", body.size(),
              MicrosEach(100'000, [&] { ASSERT_TRUE(WithTracking(body, marks)); }));
  const auto tracked = ReadTracked(pod);
  std::printf("LetGoPatch: %.2f us\n",
              MicrosEach(100'000, [&] { ASSERT_FALSE(LetGoPatch(*tracked, true).empty()); }));
}

}  // namespace
}  // namespace detent::testing
