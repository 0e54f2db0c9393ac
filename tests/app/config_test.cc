#include "core/app/config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace detent {
namespace {

std::string MistakesOf(const std::string& text) {
  const auto config = ParseConfig(text, "c.yaml");
  return config ? "" : config.error().message();
}

TEST(Config, EachMistakeHasItsPlaceAndAWayOut) {
  struct Row {
    const char* text;
    const char* mistake;
  };
  const Row rows[] = {
      {"home: standalne\n",
       "c.yaml:1:1: home: must be one of: standalone, kubernetes; not 'standalne' (did you mean "
       "'standalone'?)"},
      {"kubernetes: {leaderElection: {leaseDurationSeconds: 0}}\n",
       "c.yaml:1:31: kubernetes.leaderElection.leaseDurationSeconds: must be from 1 to 3600"},
      {"kubernetes: {leaderElection: {renewDeadlineSeconds: 14}}\n",
       "c.yaml:1:31: kubernetes.leaderElection.renewDeadlineSeconds: must be at least a tenth "
       "shorter than leaseDurationSeconds"},
      {"kubernetes: {leaderElection: {retryPeriodSeconds: 6}}\n",
       "c.yaml:1:31: kubernetes.leaderElection.retryPeriodSeconds: must be from 1 to half of "
       "renewDeadlineSeconds"},
      {"listne: {}\n", "c.yaml:1:1: listne: unknown field (did you mean 'listen'?)"},
      {"listen: {tls: {key: k}}\n", "c.yaml:1:10: listen.tls: needs both certificate and key"},
      {"plugins: {}\n", "c.yaml:1:1: plugins: must be a list, not an object"},
      {"plugins: [{kind: a}]\n", "c.yaml:1:11: plugins[0].path: is required"},
      {"plugins: [{kind: a, path: \"\"}]\n", "c.yaml:1:21: plugins[0].path: must not be empty"},
      {"plugins: [{kind: \"\", path: /a}]\n", "c.yaml:1:12: plugins[0].kind: must not be empty"},
      {"plugins: [{kind: a, path: a.so}]\n",
       "c.yaml:1:21: plugins[0].path: must be an absolute path, not 'a.so'"},
      {"plugins: [{kind: a, path: /a, isolation: process}]\n",
       "c.yaml:1:31: plugins[0].isolation: 'process' is not offered by this version of Detent; use "
       "one of: in_process"},
      {"plugins: [{kind: a, path: /a, sha256: '12'}]\n",
       "c.yaml:1:31: plugins[0].sha256: must be 64 lower case hexadecimal digits"},
      {"plugins: [{kind: a, path: /a, limits: {memory: 1}}]\n",
       "c.yaml:1:40: plugins[0].limits.memory: is not offered by this version of Detent; remove "
       "it"},
      {"plugins: [{kind: a, path: /a, limits: {tasks: 0}}]\n",
       "c.yaml:1:40: plugins[0].limits.tasks: must be at least 1, not 0"},
      {"plugins: [{kind: a, path: /a}, {kind: a, path: /b}]\n",
       "c.yaml:1:33: plugins[1].kind: 'a' is served by another plugin already"},
      {"jobs: {defaultTTLSecondsAfterFinished: -5}\n",
       "c.yaml:1:8: jobs.defaultTTLSecondsAfterFinished: must be at least 0, not -5"},
      {"cron: {hashNames: 1}\n", "c.yaml:1:8: cron.hashNames: must be true or false, not 1"},
      {"kubernetes: {kubeconfig: kube.yaml}\n",
       "c.yaml:1:14: kubernetes.kubeconfig: must be an absolute path, not 'kube.yaml'"},
      {"kubernetes: {requestsPerSecond: -1}\n",
       "c.yaml:1:14: kubernetes.requestsPerSecond: must be at least 0, not -1"},
      {"kubernetes: {webhook: {key: k}}\n",
       "c.yaml:1:14: kubernetes.webhook: needs both certificate and key"},
      {"log: {level: loud}\n",
       "c.yaml:1:7: log.level: must be one of: debug, info, warning, error; not 'loud'"},
      {"[]\n", "c.yaml:1:1: must be an object, not a list"},
      {"a: [\n", "c.yaml:2:1: "},
  };
  for (const Row& row : rows) {
    const std::string mistakes = MistakesOf(row.text);
    EXPECT_EQ(mistakes.substr(0, std::string(row.mistake).size()), row.mistake) << row.text;
    EXPECT_EQ(mistakes.find('\n'), mistakes.npos) << mistakes;
  }
}

TEST(Config, AllMistakesAreToldAtOnce) {
  const std::string mistakes = MistakesOf(
      "data: 7\ndurability: most\ncron: {defaultTimezone: Mars/Olympus, maxDowntime"
      "Seconds: soon}\n");
  for (const char* place : {"c.yaml:1:1: data", "c.yaml:2:1: durability",
                            "c.yaml:3:8: cron.default", "c.yaml:3:39: cron.maxDowntimeSeconds"}) {
    EXPECT_NE(mistakes.find(place), mistakes.npos) << place << " in\n" << mistakes;
  }
}

TEST(Config, EveryKeyIsRead) {
  const auto read = ParseConfig(R"(home: standalone
data: /d
durability: normal
listen: {address: "[::1]:1", socket: /s, tokenFile: /t, tls: {certificate: c, key: k, clientCA: a}}
jobs:
  {defaultTTLSecondsAfterFinished: 1, defaultPendingTimeoutSeconds: 2, forceDeleteTimeoutSeconds: 3}
cron: {defaultTimezone: Asia/Tokyo, maxMissedSchedules: 4, maxDowntimeSeconds: 5, hashNames: false}
log: {level: error}
)",
                                "c.yaml");
  ASSERT_TRUE(read) << read.error().message();
  const ListenConfig& listen = read->listen;
  EXPECT_EQ(read->data + listen.address + listen.socket + listen.token_file, "/d[::1]:1/s/t");
  EXPECT_EQ(listen.certificate + listen.key + listen.client_ca, "cka");
  EXPECT_FALSE(read->durability_full || read->hash_names);
  EXPECT_EQ(read->default_ttl.count(), 1);
  EXPECT_EQ(read->default_pending_timeout.count(), 2);
  EXPECT_EQ(read->force_delete_timeout.count(), 3);
  EXPECT_EQ(read->default_timezone, "Asia/Tokyo");
  EXPECT_EQ(read->max_missed_schedules, 4);
  EXPECT_EQ(read->max_downtime.count(), 5);
  EXPECT_EQ(read->log_level, LogLevel::kError);
}

TEST(Config, WhatIsShippedShowsTheDefaults) {
  std::ifstream file(DETENT_SHIPPED_CONFIG);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto shipped = ParseConfig(text, "detent.yaml");
  ASSERT_TRUE(shipped) << shipped.error().message();
  const HostConfig absent;
  EXPECT_EQ(shipped->data, absent.data);
  EXPECT_EQ(shipped->listen.address, absent.listen.address);
  EXPECT_EQ(shipped->listen.socket + shipped->listen.token_file, "");
  EXPECT_EQ(shipped->durability_full, absent.durability_full);
  EXPECT_EQ(shipped->log_level, absent.log_level);
  EXPECT_EQ(shipped->default_ttl, absent.default_ttl);
  EXPECT_EQ(shipped->default_pending_timeout, absent.default_pending_timeout);
  EXPECT_EQ(shipped->force_delete_timeout, absent.force_delete_timeout);
  EXPECT_EQ(shipped->default_timezone, absent.default_timezone);
  EXPECT_EQ(shipped->max_missed_schedules, absent.max_missed_schedules);
  EXPECT_EQ(shipped->max_downtime, absent.max_downtime);
  EXPECT_EQ(shipped->hash_names, absent.hash_names);
  for (const PluginEntryConfig& plugin : shipped->plugins) {
    EXPECT_EQ(plugin.isolation, PluginEntryConfig{}.isolation);
    EXPECT_EQ(plugin.tasks_max, PluginEntryConfig{}.tasks_max);
  }
}

}  // namespace
}  // namespace detent
