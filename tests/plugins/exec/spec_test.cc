// What may stand in a spec and in the plugin's config, through the border.

#include <gtest/gtest.h>

#include "plugins/exec/quantity.h"
#include "tests/plugins/findings.h"

namespace detent::testing {
namespace {

constexpr PluginUnderTest kExec{DETENT_EXEC_PLUGIN, "exec"};

void Expect(const std::vector<FindingRow>& rows) {
  ExpectSpecs(kExec, rows);
}

TEST(ExecSpec, TakesWhatUsersWrite) {
  Expect({
      {R"({"command":["sh","-c","echo $A"],"env":[{"name":"A","value":"42"}],"timeoutSeconds":30})",
       "", "the first example"},
      {R"({"command":["./build.sh","${task.index_matrix.platform}"]})", "", "variables"},
      {R"({"script":"exit 0","shell":"/bin/bash","args":["a"]})", "", "a script"},
      {R"({"command":["a"],"timeoutSeconds":"${option.t}","rlimits":{"openFiles":"${option.n}"}})",
       "", "a variable stands for a number too"},
      {R"({"command":["a"],"rlimits":{"cpuSeconds":1,"addressSpaceBytes":"1Gi","coreBytes":0}})",
       "", "bytes as a number or a quantity"},
      {R"({"command":["a"],"resources":{"limits":{"memory":"64Mi","cpu":0.5,"pids":10}}})", "",
       "resources"},
      {R"({"command":["a"],"user":65534,"group":"nogroup","successExitCodes":[0,3]})", "", "users"},
      {R"({"command":["a"],"env":[{"name":"EMPTY"}],"stdin":"","idempotent":true})", "",
       "an empty value is a value"},
  });
}

TEST(ExecSpec, SaysAllMistakesAtOnceWithTheirPlaces) {
  Expect({
      {R"({"comand":["a"],"timeoutSecond":3})",
       " Required; /comand UnknownField (did you mean `command`?); "
       "/timeoutSecond UnknownField (did you mean `timeoutSeconds`?)",
       "near names"},
      {R"({"command":[],"gracePeriodSeconds":-1})",
       "/command WrongLength; /gracePeriodSeconds OutOfRange", "two mistakes"},
      {R"({"command":["a"],"script":"b"})", " Conflict", "one of the two"},
      {R"({"command":["a"],"shell":"/bin/sh"})", "/shell Conflict", "no script"},
      {R"({"command":"a b"})", "/command WrongType", "a list, not a line"},
      {R"({"command":[""]})", "/command/0 Empty", "no program"},
      {R"({"command":["a\u0000b"]})", "/command/0 HasNul", "C strings end at NUL"},
  });
}

TEST(ExecSpec, RefusesWhatAProcessCannotHave) {
  Expect({
      {R"({"command":["a"],"env":[{"name":"A","valueFrom":{"secretKeyRef":{}}}]})",
       "/env/0/valueFrom Unsupported (give a `value`)", "no cluster behind it"},
      {R"({"command":["a"],"env":[{"value":"x"},{"name":"A=B"},{"name":"C","vlue":"x"}]})",
       "/env/0/name Required; /env/1/name BadName; /env/2/vlue UnknownField (did you mean "
       "`value`?)",
       "each variable is checked"},
      {R"({"command":["a"],"successExitCodes":[256,"x"]})",
       "/successExitCodes/0 OutOfRange; /successExitCodes/1 OutOfRange", "exit codes are bytes"},
      {R"({"command":["a"],"outputLimit":"1Ki"})", "/outputLimit OutOfRange", "no room for a line"},
      {R"({"command":["a"],"outputLimit":"big"})", "/outputLimit BadQuantity", "no quantity"},
      {R"({"command":["a"],"resources":{"limit":{}}})",
       "/resources/limit UnknownField (did you mean `limits`?)", "below, too"},
      {R"({"command":["a"],"rlimits":{"openFile":3,"cpuSeconds":0}})",
       "/rlimits/cpuSeconds OutOfRange; /rlimits/openFile UnknownField (did you mean "
       "`openFiles`?)",
       "limits"},
  });
}

TEST(ExecSpec, ReadsQuantitiesAsKubernetesDoes) {
  struct Case {
    const char* text;
    int64_t bytes;  // -1: none
    const char* because;
  };
  for (const Case& c :
       {Case{"10Mi", 10485760, "binary"}, Case{"1k", 1000, "decimal"},
        Case{"1.5Ki", 1536, "a fraction"}, Case{"7", 7, "plain"}, Case{"-1", -1, "negative"},
        Case{"1 Mi", -1, "a space"}, Case{"", -1, "nothing"}, Case{"1e3Z", -1, "unknown"},
        Case{"99999999Pi", -1, "beyond 63 bits"}}) {
    EXPECT_EQ(exec::ParseBytes(c.text).value_or(-1), c.bytes) << c.because;
  }
  EXPECT_EQ(exec::ParseMilliCpu("250m"), 250);
  EXPECT_EQ(exec::ParseMilliCpu("1.5"), 1500);
}

TEST(ExecSpec, ChecksTheConfigWithPlaces) {
  ExpectConfigs(kExec,
                {
                    {R"({"allowUsers":["nobody",1000]})", "", "names and numbers"},
                    {R"({"allowUser":[]})", "/allowUser UnknownField (did you mean `allowUsers`?)",
                     "near name"},
                    {R"({"allowUsers":"nobody"})", "/allowUsers WrongType", "a list"},
                    {R"({"cgroupRoot":"sys/fs"})", "/cgroupRoot NotAbsolute", "absolute paths"},
                });
}

TEST(ExecSpec, HasSchemasThatNameEachField) {
  ExpectSchemaFields(
      kExec, DETENT_SCHEMA_SPEC,
      {"command", "script", "shell", "args", "workingDirectory", "env", "inheritEnvironment",
       "stdin", "user", "group", "rlimits", "resources", "timeoutSeconds", "gracePeriodSeconds",
       "successExitCodes", "outputLimit", "idempotent"});
  ExpectSchemaFields(kExec, DETENT_SCHEMA_CONFIG, {"allowUsers"});
}

}  // namespace
}  // namespace detent::testing
