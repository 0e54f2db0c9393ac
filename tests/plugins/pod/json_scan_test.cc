// Reading JSON from front to back.

#include "plugins/pod/json_scan.h"

#include <gtest/gtest.h>

#include <random>

#include "plugins/pod/pod.h"
#include "plugins/pod/pod_list.h"
#include "tests/plugins/pod/sample.h"

namespace detent::pod {
namespace {

TEST(JsonScan, TakesEachKindOfValue) {
  JsonScan scan(R"( {"a" : "x\n\"y\u00e9\ud83d\ude00", "b":[ 1 , -2, 3.5 ], "c":{"d":true},)"
                R"("e":null,"f":{},"g":[],"h":"","i":false,"j":[{"k":[1,{"l":"]}"}]},7]} )");
  std::string seen;
  ASSERT_TRUE(scan.BeginObject());
  for (std::string_view key; scan.NextKey(key);) {
    seen += key;
    if (key == "a") {
      EXPECT_EQ(scan.Text(), "x\n\"y\xC3\xA9\xF0\x9F\x98\x80");
    } else if (key == "b") {
      ASSERT_TRUE(scan.BeginArray());
      EXPECT_TRUE(scan.NextItem());
      EXPECT_EQ(scan.Int(), 1);
      EXPECT_TRUE(scan.NextItem());
      EXPECT_EQ(scan.Int(), -2);
      EXPECT_TRUE(scan.NextItem());
      EXPECT_EQ(scan.Int(), std::nullopt) << "no integer";
      EXPECT_FALSE(scan.NextItem());
    } else if (key == "c") {
      ASSERT_TRUE(scan.BeginObject());
      EXPECT_TRUE(scan.NextKey(key));
      EXPECT_TRUE(scan.Bool());
      EXPECT_FALSE(scan.NextKey(key));
    } else if (key == "f") {
      ASSERT_TRUE(scan.BeginObject());
      EXPECT_FALSE(scan.NextKey(key));
    } else if (key == "j") {
      EXPECT_EQ(scan.Raw(), R"([{"k":[1,{"l":"]}"}]},7])");
    } else {
      scan.Skip();
    }
  }
  EXPECT_EQ(seen, "abcefghij");
  EXPECT_TRUE(scan.Finish());
}

TEST(JsonScan, GivesNothingForAValueOfAnotherKindAndGoesOn) {
  JsonScan scan(R"({"a":{"x":1},"b":"t","c":[1],"d":5})");
  std::string_view key;
  ASSERT_TRUE(scan.BeginObject());
  EXPECT_TRUE(scan.NextKey(key));
  EXPECT_EQ(scan.Text(), "");
  EXPECT_TRUE(scan.NextKey(key));
  EXPECT_FALSE(scan.BeginObject());
  EXPECT_TRUE(scan.NextKey(key));
  EXPECT_EQ(scan.Int(), std::nullopt);
  EXPECT_TRUE(scan.NextKey(key));
  EXPECT_FALSE(scan.BeginArray());
  EXPECT_FALSE(scan.NextKey(key));
  EXPECT_TRUE(scan.Finish());
}

TEST(JsonScan, SeesThatATextIsNoJson) {
  const char* const texts[] = {"",          "{",         "{\"a\"",     "{\"a\":",    "{\"a\":1",
                               "{\"a\":1]", "{\"a\" 1}", "{a:1}",      "[1 2]",      "{\"a\":\"x}",
                               "{} {}",     "{\"a\":}",  "{\"a\":[}}", "{\"a\":{]}", "nul\\"};
  for (const char* text : texts) EXPECT_FALSE(ReadPod(text)) << text;
  const std::string deep(500, '[');
  EXPECT_FALSE(ReadPod("{\"spec\":" + deep + "}"));
}

TEST(JsonScan, ReadsAnyBytesWithoutHarm) {
  std::mt19937 random(7);
  const std::string whole = kFinishedPod;
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ReadPod(std::string_view(whole).substr(0, length)));
  }
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (int i = 0; i < 4; ++i) {
      constexpr std::string_view kBytes = "{}[]\",:\\u0\0 tn";
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    ReadPod(text);
    ReadPodList("{\"items\":[" + text.substr(random() % text.size()) + "]}");
  }
}

TEST(JsonScan, ReadsAListOfPods) {
  const std::string list =
      std::string(R"({"kind":"PodList","items":[)") + kFinishedPod + "," + kFinishedPod + "]}";
  const auto pods = ReadPodList(list);
  ASSERT_TRUE(pods);
  ASSERT_EQ(pods->size(), 2u);
  EXPECT_EQ(pods->at(1).name, "hello-0-1");
  EXPECT_TRUE(ReadPodList(R"({"items":[]})"));
  EXPECT_FALSE(ReadPodList(R"({"kind":"Status"})"));
  EXPECT_EQ(QueryByKeys({"u.0.1", "u.1.1"}),
            "labelSelector=detent.dev%2Ftask%20in%20%28u.0.1%2Cu.1.1%29&resourceVersion=0");
}

}  // namespace
}  // namespace detent::pod
