#include "tests/plugins/exec/exec_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/json.h"

namespace detent::testing {
namespace {

std::vector<pid_t> ProcessesWith(const char* file, const std::string& text) {
  std::vector<pid_t> found;
  DIR* const proc = opendir("/proc");
  while (const dirent* entry = readdir(proc)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0 || pid == getpid()) continue;
    const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
    if (ReadFile(path).find(text) != std::string::npos) found.push_back(pid);
  }
  closedir(proc);
  return found;
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

std::string Script(std::string_view script, std::string_view more) {
  std::string spec = R"({"script":)" + Quoted(script);
  if (!more.empty()) spec.append(",").append(more);
  return spec + "}";
}

void ExecTest::SetUp() {
  static int count = 0;
  prefix_ = "t" + std::to_string(getpid()) + "-" + std::to_string(++count) + "-";
  std::string pattern = ::testing::TempDir() + "detent-exec-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  directory_ = pattern;
  std::filesystem::create_directory(directory_ + "/state");
  std::filesystem::create_directory(directory_ + "/cwd");
  // So that a test may run tasks as somebody else.
  chmod(directory_.c_str(), 0755);
  NewHost();
}

void ExecTest::TearDown() {
  if (host_ != nullptr) host_->Close();
  EXPECT_TRUE(host_->RunUntil([&] { return Processes().empty(); }, 5000))
      << "left behind: " << Processes().size() << " processes";
  for (const pid_t pid : Processes()) kill(pid, SIGKILL);
  host_.reset();
  std::filesystem::remove_all(directory_);
}

FakeHost& ExecTest::NewHost(std::string_view config) {
  host_.reset();
  host_ = std::make_unique<FakeHost>(DETENT_EXEC_PLUGIN, "exec");
  std::string text = R"({"workingDirectory":)" + Quoted(directory_ + "/cwd");
  if (config != "{}") text.append(",").append(config.substr(1, config.size() - 2));
  EXPECT_EQ(host_->Create(directory_ + "/state", text + "}"), DETENT_OK);
  EXPECT_EQ(host_->Open().code, DETENT_OK);
  return *host_;
}

detent_task ExecTest::Started(std::string_view spec, std::string_view suffix) {
  const detent_task task = host_->NewTask(Key(suffix), std::string(spec));
  const Answer answer = host_->Await(host_->Start(task));
  EXPECT_TRUE(answer.given);
  EXPECT_EQ(answer.code, DETENT_OK) << answer.reason << ": " << answer.message;
  return task;
}

Update ExecTest::Ended(std::string_view spec, std::string_view suffix) {
  const detent_task task = Started(spec, suffix);
  EXPECT_TRUE(host_->AwaitPhase(task, DETENT_PHASE_TERMINATED));
  return host_->last(task);
}

std::string ExecTest::RawLog(std::string_view suffix) {
  std::string all;
  uint64_t offset = 0;
  for (;;) {
    const Answer piece = host_->Await(host_->ReadLog(Key(suffix), offset));
    all += piece.body;
    if (piece.code != DETENT_OK || piece.body.empty()) return all;
    offset = piece.value;
  }
}

std::string ExecTest::Log(std::string_view suffix) {
  std::istringstream lines(RawLog(suffix));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    // 30 characters of time, " stdout F ", text.
    if (line.size() < 40) return "too short: " + line;
    out += line.substr(31, 6) == "stderr" ? "2:" : "1:";
    out += line.substr(40);
    out += line[38] == 'P' ? "+" : "\n";
  }
  return out;
}

bool ExecTest::AwaitLog(std::string_view text, std::string_view suffix) {
  return host_->RunUntil([&] { return RawLog(suffix).find(text) != std::string::npos; });
}

std::vector<pid_t> ExecTest::Supervisors() const {
  std::vector<pid_t> found;
  for (const pid_t pid : ProcessesWith("cmdline", prefix_)) {
    if (ReadFile("/proc/" + std::to_string(pid) + "/comm") == "detent-exec\n") found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> ExecTest::Processes() const {
  std::vector<pid_t> found = ProcessesWith("environ", "DETENT_TASK_ID=" + prefix_);
  for (const pid_t pid : Supervisors()) found.push_back(pid);
  return found;
}

}  // namespace detent::testing
