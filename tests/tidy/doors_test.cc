// Each third-party library has one door: the file that includes it, and turns its errors and
// exceptions into ours.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tidy/source_tree.h"

namespace detent::tidy {
namespace {

struct Door {
  std::string_view headers;                // Includes that begin so...
  std::vector<std::string_view> patterns;  // ...are for these files only.
  std::string_view instead;
};

const std::vector<Door>& Doors() {
  static const std::vector<Door> doors = {
      {"boost/dll", {"core/plugin/shared_object.cc"}, "core/plugin/shared_object.h"},
      {"curl/",
       {"core/net/curl_*.cc", "core/net/curl_api.h", "tests/bench/*.cc",
        "tests/support/http_client.cc"},
       "core/net"},
      {"yaml-cpp/", {"core/base/yaml.cc"}, "core/base/yaml.h"},
      {"Poco/Net/", {"core/http/server*.cc", "core/http/socket*.cc"}, "core/http"},
      {"Poco/Crypto/", {"core/http/server*.cc"}, "core/http"},
      {"openssl/",
       {"core/net/curl_api.cc", "core/webhook/certificate.cc", "core/plugin/plugin_file.cc",
        "tests/net/*.cc"},
       "core/webhook/certificate.h"},
      {"Poco/JSON/", {"core/base/json*.cc"}, "core/base/json.h"},
      {"simdjson", {"core/base/json*.cc"}, "core/base/json.h"},
      {"protozero/",
       {"core/kube/proto_json.cc", "tests/kube/proto_*.cc"},
       "core/kube/proto_json.h"},
      {"sqlite3", {"core/store/sqlite_*.cc"}, "core/store"},
      {"date/", {"core/cron/zone.cc"}, "core/cron/zone.h"},
  };
  return doors;
}

Findings CheckDoors(const SourceFile& file) {
  Findings findings;
  if (!file.IsCode()) return findings;
  for (const Include& include : IncludesOf(file)) {
    for (const Door& door : Doors()) {
      if (include.quoted || !include.name.starts_with(door.headers)) continue;
      const bool open =
          std::any_of(door.patterns.begin(), door.patterns.end(),
                      [&](std::string_view pattern) { return MatchesPath(pattern, file.path); });
      if (open) continue;
      findings.push_back({file.path, include.line,
                          "<" + include.name + "> has one door; use " + std::string(door.instead)});
    }
  }
  return findings;
}

TEST(Doors, EveryLibraryIsIncludedAtItsDoorOnly) {
  EXPECT_EQ(Report(CheckAll(LoadRepository(), CheckDoors)), "");
}

TEST(Doors, SeesALibraryIncludedElsewhere) {
  EXPECT_EQ(CheckDoors(MakeFile("core/net/curl_multi.cc", "#include <curl/curl.h>\n")).size(), 0u);
  EXPECT_EQ(CheckDoors(MakeFile("core/http/page.cc", "#include <curl/curl.h>\n")).size(), 1u);
  // Headers spread what they include, so hardly any is a door.
  EXPECT_EQ(CheckDoors(MakeFile("core/base/yaml.h", "#include <yaml-cpp/yaml.h>\n")).size(), 1u);
  EXPECT_EQ(CheckDoors(MakeFile("plugins/exec/spec.cc", "#include <simdjson.h>\n")).size(), 1u);
}

}  // namespace
}  // namespace detent::tidy
