// What the API server says of a Pod before its Job is stored.

#include "tests/plugins/findings.h"
#include "tests/plugins/pod/pod_fixture.h"

namespace detent::testing {
namespace {

class PodLiveCheck : public PodRun {
 protected:
  void SetUp() override { NewHost(R"({"dryRunAtAdmission":"Warn"})"); }

  // "severity pointer: message" of each finding, or the answer's reason where nothing was learned.
  std::string Checked(const std::string& spec) {
    const detent_op op = host().CheckLive(spec);
    const Answer answer = After(op);
    if (!answer.given) return "no answer";
    if (answer.code != DETENT_OK) return answer.reason + ": " + answer.message;
    refuses_ = (answer.flags & DETENT_VALIDATE_LIVE_REFUSES) != 0;
    std::string text;
    for (const Finding& finding : host().found(op)) {
      text += text.empty() ? "" : "\n";
      text += finding.severity == DETENT_DIAG_ERROR ? "error " : "warning ";
      text += finding.pointer + ": " + finding.message;
    }
    return text;
  }
  // The server answers the next try so.
  void Refuse(uint32_t http_status, const std::string& message, const std::string& causes = "") {
    KubeFault fault{KubeAct::kTryOut, DETENT_E_INVALID, http_status, "Invalid", message};
    if (http_status == 403) fault.code = DETENT_E_DENIED;
    if (!causes.empty()) {
      fault.body =
          R"({"kind":"Status","details":{"name":"x","causes":[)" + causes + R"(]},"code":422})";
    }
    kube().Inject(std::move(fault));
  }

  bool refuses_ = false;
};

const char* const kPolicyCause =
    R"({"reason":"FieldValueNotSupported","message":"Unsupported value: \"Foo\"",)"
    R"("field":"spec.containers[0].imagePullPolicy"})";

TEST_F(PodLiveCheck, IsSilentOnAGoodPodAndMakesNone) {
  EXPECT_EQ(Checked(kPlain), "");
  ASSERT_EQ(kube().count(KubeAct::kTryOut), 1u);
  EXPECT_EQ(kube().asked()[0].ns, "default");
  EXPECT_EQ(kube().asked()[0].query, "fieldValidation=Strict");
  const Json pod = *ParseJson(kube().asked()[0].body);
  EXPECT_EQ(TextAt(pod, "/metadata/generateName"), "dry-run-");
  EXPECT_EQ(TextAt(pod, "/spec/restartPolicy"), "Never");
  EXPECT_EQ(TextAt(pod, "/spec/containers/0/env/1/name"), "DETENT_TASK_NAME");
  EXPECT_TRUE(server().pods().empty());
}

TEST_F(PodLiveCheck, AsksNothingUnlessTheConfigWantsIt) {
  for (const char* config : {"{}", R"({"dryRunAtAdmission":"Never"})"}) {
    NewHost(config);
    EXPECT_EQ(After(host().CheckLive(kPlain)).code, DETENT_E_UNSUPPORTED) << config;
  }
  EXPECT_EQ(kube().count(KubeAct::kTryOut), 0u);
}

TEST_F(PodLiveCheck, TellsTheServersWordsAtTheFieldOfTheSpec) {
  struct Row {
    const char* field;
    const char* pointer;
    const char* because;
  };
  const Row rows[] = {
      {"spec.containers[0].image", "/spec/containers/0/image", "as it is"},
      {"spec.nodeSelector[a/b]", "/spec/nodeSelector/a~1b", "a key may hold a slash"},
      {"metadata.labels", "/metadata/labels", "the template's own"},
      {"spec.containers[0].resources.requests[cpu]", "/spec/containers/0/resources",
       "requests and limits are judged together"},
      {"spec.containers[0].env[4].valueFrom", "/spec/containers/0/env/1/valueFrom",
       "three of the host's variables come first, for one is set"},
      {"spec.containers[0].env[1].name", "/spec/containers/0/env", "one of the host's"},
  };
  const char* const spec = R"({"spec":{"containers":[{"name":"a","image":"b",)"
                           R"("env":[{"name":"DETENT_JOB_NAME","value":"x"},{"name":"B"}]}]}})";
  for (const Row& row : rows) {
    Refuse(422, "is invalid",
           R"({"reason":"FieldValueInvalid","message":"Invalid value","field":")" +
               std::string(row.field) + "\"}");
    EXPECT_EQ(Checked(spec),
              "warning " + std::string(row.pointer) + ": the API server refuses it: Invalid value")
        << row.because;
  }
  Refuse(422, "is invalid", R"({"message":"Invalid value","field":"metadata.generateName"})");
  EXPECT_EQ(Checked(spec),
            "warning : the API server refuses it: Invalid value (metadata.generateName)");
}

TEST_F(PodLiveCheck, TellsWhatTheDecoderSays) {
  Refuse(400, R"(strict decoding error: unknown field "spec.containers[0].imge", )"
              R"(unknown field "spec.foo")");
  EXPECT_EQ(Checked(kPlain),
            "warning /spec/containers/0/imge: unknown field of a Pod\n"
            "warning /spec/foo: unknown field of a Pod");
  Refuse(400, "quantities must match the regular expression");
  EXPECT_EQ(Checked(kPlain),
            "warning : the API server refuses it: quantities must match the regular expression");
}

TEST_F(PodLiveCheck, RefusesOnlyWhatIsWrongWithTheSpecItself) {
  NewHost(R"({"dryRunAtAdmission":"Refuse"})");
  Refuse(422, "is invalid", kPolicyCause);
  EXPECT_EQ(Checked(kPlain),
            "error /spec/containers/0/imagePullPolicy: the API server refuses it: Unsupported "
            "value: \"Foo\"");
  EXPECT_TRUE(refuses_);
  Refuse(403, R"(pods "x" is forbidden: violates PodSecurity "restricted:latest")");
  EXPECT_EQ(Checked(kPlain).substr(0, 8), "error : ");
  Refuse(403, R"(pods is forbidden: User "u" cannot create resource "pods" in API group "")");
  EXPECT_EQ(Checked(kPlain),
            "warning : the host may not create pods in namespace default, and the task would wait "
            "until it may: pods is forbidden: User \"u\" cannot create resource \"pods\" in API "
            "group \"\"");
  server().quota["default"] = 0;
  EXPECT_NE(Checked(kPlain).find("warning : the API server refuses it: pods"), std::string::npos);
  server().quota.clear();
  server().missing.insert("default");
  EXPECT_EQ(Checked(kPlain),
            "warning : the API server refuses it: namespaces \"default\" not found");
}

TEST_F(PodLiveCheck, LearnsNothingFromAServerThatDoesNotAnswer) {
  kube().Inject({KubeAct::kTryOut, DETENT_E_UNAVAILABLE, 503, "ServiceUnavailable", "not now"});
  EXPECT_EQ(Checked(kPlain), "ServiceUnavailable: not now");
  kube().Hold(KubeAct::kTryOut);
  const detent_op late = host().CheckLive(kPlain);
  const detent_op cancelled = host().CheckLive(kPlain);
  Settle();
  EXPECT_FALSE(host().answer(late).given);
  host().Cancel(cancelled);
  EXPECT_EQ(host().answer(cancelled).code, DETENT_E_CANCELLED);
  FakeHost::SkipTime(2);
  Settle();
  EXPECT_EQ(host().answer(late).message, "the API server did not answer within 1200 ms");
  const detent_op open = host().CheckLive(kPlain);
  host().Close();
  EXPECT_EQ(host().answer(open).code, DETENT_E_CLOSING);
  kube().Arrive();
}

TEST_F(PodLiveCheck, IsConfiguredByOneWord) {
  const PluginUnderTest plugin{DETENT_POD_PLUGIN, "pod"};
  ExpectConfigs(plugin, {{R"({"dryRunAtAdmission":"Refuse"})", "", "one of three"},
                         {R"({"dryRunAtAdmission":"refuse"})",
                          "/dryRunAtAdmission UnknownValue (did you mean `Refuse`?)", "a slip"},
                         {R"({"dryRun":"Warn"})", "/dryRun UnknownField", "no such field"}});
  ExpectSchemaFields(plugin, DETENT_SCHEMA_CONFIG, {"dryRunAtAdmission"});
}

}  // namespace
}  // namespace detent::testing
