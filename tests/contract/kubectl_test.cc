// The real kubectl, as released, against the contract's server: DETENT_KUBECTL names it, or it is
// where tests/tools/build.sh puts it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/contract/contract_server.h"

namespace detent::testing {
namespace {

std::string KubectlPath() {
  if (const char* path = getenv("DETENT_KUBECTL")) return path;
  const char* cache = getenv("DETENT_TOOLS_CACHE");
  const char* home = getenv("HOME");
  const std::filesystem::path directory =
      cache != nullptr ? std::filesystem::path(cache)
                       : std::filesystem::path(home == nullptr ? "" : home) / ".cache/detent-tools";
  return (directory / "kubectl-1.37.0").string();
}

// A running kubectl; killed at the latest by the destructor.
class Process {
 public:
  Process(const std::string& program, std::vector<std::string> arguments, const std::string& home) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) abort();
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::string variable = "HOME=" + home;
    std::string path = "PATH=/usr/bin:/bin";  // `kubectl diff` runs diff.
    char* environment[] = {variable.data(), path.data(), nullptr};
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], 1);
      dup2(ends[1], 2);
      execve(program.c_str(), argv.data(), environment);
      _exit(127);
    }
    close(ends[1]);
    out_ = ends[0];
  }
  ~Process() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    Wait();
    close(out_);
  }
  int Wait() {
    int status = 0;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // The next line with its end, or what is there when nothing more comes in time.
  std::string Line(int timeout_ms = 20'000) {
    while (text_.find('\n') == std::string::npos && Fill(timeout_ms)) {
    }
    const size_t end = text_.find('\n');
    const std::string line = text_.substr(0, end == std::string::npos ? end : end + 1);
    text_.erase(0, line.size());
    return line;
  }
  std::string All(int timeout_ms = 60'000) {
    while (Fill(timeout_ms)) {
    }
    return std::move(text_);
  }

 private:
  bool Fill(int timeout_ms) {
    pollfd ready{out_, POLLIN, 0};
    char piece[4096];
    if (poll(&ready, 1, timeout_ms) <= 0) return false;
    const ssize_t got = read(out_, piece, sizeof(piece));
    if (got > 0) text_.append(piece, static_cast<size_t>(got));
    return got > 0;
  }
  pid_t pid_ = -1;
  int out_ = -1;
  std::string text_;
};

class Kubectl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access(KubectlPath().c_str(), X_OK) != 0) {
      const char* ci = getenv("CI");
      ASSERT_FALSE(ci != nullptr && std::string(ci) == "true") << "kubectl must be there in CI";
      GTEST_SKIP() << "kubectl is not at " << KubectlPath() << "; tests/tools/build.sh makes it";
    }
    std::string pattern = std::filesystem::temp_directory_path() / "detent-kubectl-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
  }
  void TearDown() override {
    if (!home_.empty()) std::filesystem::remove_all(home_);
  }

  std::vector<std::string> WithServer(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "--server=" + ContractServer().url);
    if (!ContractServer().token.empty()) {
      arguments.insert(arguments.begin(), "--token=" + ContractServer().token);
    }
    return arguments;
  }
  std::unique_ptr<Process> Begin(std::vector<std::string> arguments) const {
    return std::make_unique<Process>(KubectlPath(), WithServer(std::move(arguments)), home_);
  }
  // Runs to the end; the exit code is put in front: "0: jobconfig... created\n".
  std::string Run(std::vector<std::string> arguments) const {
    const auto process = Begin(std::move(arguments));
    const std::string text = process->All();
    return std::to_string(process->Wait()) + ": " + text;
  }
  std::string File(const std::string& text) const {
    const std::string path = home_ + "/" + FreshName("manifest") + ".json";
    std::ofstream(path) << text;
    return path;
  }
  std::string Qualified(const std::string& resource, const std::string& name) const {
    return resource + "." + ContractGroup() + "/" + name;
  }
  // A whole API server has `jobs` of its own, which a bare word would mean.
  std::string Jobs() const { return "jobs." + ContractGroup(); }

  std::string home_;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Kubectl, AppliesChangesAndLeavesTheRestUnchanged) {
  const std::string name = FreshName("apply");
  const std::string first = File(JobConfigText(name));
  const std::string object = Qualified("jobconfig", name);
  EXPECT_EQ(Run({"apply", "-f", first}), "0: " + object + " created\n");
  EXPECT_EQ(Run({"apply", "-f", first}), "0: " + object + " unchanged\n");
  std::string text = JobConfigText(name);
  text.replace(text.find("\"Allow\""), 7, "\"Forbid\"");
  EXPECT_EQ(Run({"apply", "-f", File(text)}), "0: " + object + " configured\n");
  EXPECT_EQ(Run({"get", "jc", name, "-o", "jsonpath={.spec.concurrency.policy}"}), "0: Forbid");
  EXPECT_TRUE(Has(Run({"diff", "-f", first}), "Allow"));
  const std::string gone = Run({"delete", "-f", first});
  EXPECT_TRUE(Has(gone, "\"" + name + "\" deleted")) << gone;
}

TEST_F(Kubectl, RefusesAnUnknownFieldByItsName) {
  std::string text = JobConfigText(FreshName("unknown"));
  text.replace(text.find("\"spec\":{"), 8, "\"spec\":{\"bogus\":1,");
  const std::string said = Run({"apply", "-f", File(text)});
  EXPECT_TRUE(said.starts_with("1: ")) << said;
  EXPECT_TRUE(Has(said, "unknown field \"spec.bogus\"")) << said;
}

TEST_F(Kubectl, ShowsTablesDescriptionsAndNames) {
  const std::string name = FreshName("show");
  ASSERT_EQ(Do("POST", PathOf("jobs"), JobText(name)).status, 201);
  const std::string table = Run({"get", Jobs(), name});
  EXPECT_TRUE(Has(table, "NAME") && Has(table, "PHASE") && Has(table, name)) << table;
  EXPECT_FALSE(Has(table, "REASON")) << table;
  const std::string wide = Run({"get", "jb", name, "-o", "wide"});
  EXPECT_TRUE(Has(wide, "REASON")) << wide;
  const std::string described = Run({"describe", Jobs(), name});
  EXPECT_TRUE(described.starts_with("0: ") && Has(described, name)) << described;
  EXPECT_EQ(Run({"get", Jobs(), name, "-o", "name"}), "0: " + Qualified("job", name) + "\n");
  EXPECT_TRUE(Has(Run({"get", "all", "--all-namespaces"}), name));
  const std::string sorted = Run({"get", Jobs(), "--sort-by=.metadata.name", "-l", "!nothing"});
  EXPECT_TRUE(Has(sorted, name)) << sorted;
}

TEST_F(Kubectl, WatchesARowAsItChanges) {
  const std::string name = FreshName("watch");
  ASSERT_EQ(Do("POST", PathOf("jobconfigs"), JobConfigText(name)).status, 201);
  const auto watch = Begin({"get", "jobconfigs", name, "-w"});
  EXPECT_TRUE(Has(watch->Line(), "POLICY"));
  const std::string before = watch->Line();
  EXPECT_TRUE(Has(before, "Allow")) << before;
  // What changes between kubectl's get and its watch is never shown, so it is changed until seen.
  std::string after;
  for (int i = 0; i < 20 && !Has(after, "Forbid"); ++i) {
    const std::string policy = i % 2 == 0 ? "Forbid" : "Allow";
    Do("PATCH", PathOf("jobconfigs", name),
       R"({"spec":{"concurrency":{"policy":")" + policy + R"("}}})",
       "application/merge-patch+json");
    after = watch->Line(1000);
  }
  EXPECT_TRUE(Has(after, name) && Has(after, "Forbid")) << after;
}

TEST_F(Kubectl, PatchesLabelsAnnotatesAndReplaces) {
  const std::string name = FreshName("patch");
  ASSERT_EQ(Do("POST", PathOf("jobconfigs"), JobConfigText(name)).status, 201);
  const std::string merge = R"({"spec":{"concurrency":{"policy":"Forbid"}}})";
  EXPECT_TRUE(Has(Run({"patch", "jc", name, "--type=merge", "-p", merge}), " patched\n"));
  EXPECT_TRUE(Has(Run({"patch", "jc", name, "--type=merge", "-p", merge}), "(no change)"));
  const std::string json = R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])";
  EXPECT_TRUE(Has(Run({"patch", "jc", name, "--type=json", "-p", json}), " patched\n"));
  EXPECT_TRUE(Has(Run({"label", "jc", name, "c=d"}), " labeled\n"));
  EXPECT_TRUE(Has(Run({"annotate", "jc", name, "e=f"}), " annotated\n"));
  EXPECT_TRUE(Has(Run({"get", "jc", "-l", "a=b,c=d"}), name));
  EXPECT_TRUE(Has(Run({"replace", "-f", File(JobConfigText(name))}), " replaced\n"));
}

TEST_F(Kubectl, ScalesAJobConfig) {
  const std::string name = FreshName("scale");
  const std::string object = "jobconfig/" + name;
  std::string text = JobConfigText(name);
  text.replace(text.find("\"Allow\""), 7, "\"Forbid\"");
  ASSERT_EQ(Do("POST", PathOf("jobconfigs"), text).status, 201);
  const std::string scaled = "0: " + Qualified("jobconfig", name) + " scaled\n";
  EXPECT_EQ(Run({"scale", object, "--replicas=3"}), scaled) << "where no limit was set";
  EXPECT_EQ(Run({"get", object, "-o", "jsonpath={.spec.concurrency.maxConcurrency}"}), "0: 3");
  const std::string raw = Run({"get", "--raw", PathOf("jobconfigs", name) + "/scale"});
  EXPECT_TRUE(Has(raw, R"("kind":"Scale")") && Has(raw, R"("spec":{"replicas":3})")) << raw;
  EXPECT_EQ(Run({"scale", object, "--current-replicas=3", "--replicas=4"}), scaled);
  const std::string other = Run({"scale", object, "--current-replicas=3", "--replicas=5"});
  EXPECT_TRUE(other.starts_with("1: ") && Has(other, "Expected replicas to be 3, was 4")) << other;
  const std::string none = Run({"scale", object, "--replicas=0"});
  EXPECT_TRUE(none.starts_with("1: ") && Has(none, "spec.concurrency.maxConcurrency")) << none;
  const std::string shown = Run({"get", object, "--subresource=scale", "-o", "name"});
  EXPECT_TRUE(shown.starts_with("0: ") && Has(shown, name)) << shown;
}

TEST_F(Kubectl, CreatesWithAGeneratedName) {
  std::string text = JobText("x");
  text.replace(text.find("\"name\":\"x\""), 10, "\"generateName\":\"gen-\"");
  const std::string said = Run({"create", "-f", File(text)});
  EXPECT_TRUE(said.starts_with("0: " + Qualified("job", "gen-"))) << said;
  EXPECT_TRUE(Has(said, " created\n")) << said;
}

TEST_F(Kubectl, ExplainsFieldsAndListsResources) {
  const std::string explained = Run({"explain", "jobconfigs.spec.schedule"});
  EXPECT_TRUE(explained.starts_with("0: ") && Has(explained, "cron")) << explained;
  const std::string job = Run({"explain", "jb.spec.template", "--recursive"});
  EXPECT_TRUE(job.starts_with("0: ") && Has(job, "taskTemplate")) << job;
  const std::string resources = Run({"api-resources", "--api-group=" + ContractGroup()});
  for (const char* word : {"jobconfigs", "jc", "tasks", "JobConfig"}) {
    EXPECT_TRUE(Has(resources, word)) << resources;
  }
}

TEST_F(Kubectl, WaitsForAConditionAValueAndAnEnd) {
  const std::string name = FreshName("wait");
  ASSERT_EQ(Do("POST", PathOf("jobs"), JobText(name)).status, 201);
  const auto condition = Begin({"wait", "--for=condition=Complete", Qualified("job", name)});
  const std::string phase = "--for=jsonpath={.status.phase}=Succeeded";
  const auto value = Begin({"wait", phase, Qualified("job", name)});
  const HttpAnswer written =
      Do("PATCH", PathOf("jobs", name) + "/status",
         R"({"status":{"phase":"Succeeded","conditions":[{"type":"Complete","status":"True"}]}})",
         "application/merge-patch+json");
  EXPECT_EQ(written.status, 200) << written.body;
  EXPECT_TRUE(Has(condition->All(), "condition met"));
  EXPECT_TRUE(Has(value->All(), "condition met"));

  const std::string config = FreshName("wait");
  ASSERT_EQ(Do("POST", PathOf("jobconfigs"), JobConfigText(config)).status, 201);
  const auto end = Begin({"wait", "--for=delete", "jobconfig/" + config});
  const std::string gone = Run({"delete", "jobconfig", config, "--cascade=background"});
  EXPECT_TRUE(gone.starts_with("0: ") && Has(gone, "deleted")) << gone;
  end->All();
  EXPECT_EQ(end->Wait(), 0);
}

TEST_F(Kubectl, SaysWhyServerSideApplyIsRefused) {
  const std::string file = File(JobConfigText(FreshName("server-side")));
  const std::string said = Run({"apply", "--server-side", "-f", file});
  if (said.starts_with("0: ")) return;  // A full API server keeps track of field owners.
  EXPECT_TRUE(Has(said, "server-side apply is not offered")) << said;
}

}  // namespace
}  // namespace detent::testing
