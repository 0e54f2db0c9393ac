#include "tests/plugins/findings.h"

#include <gtest/gtest.h>

#include "core/base/json.h"

namespace detent::testing {

std::string Findings(const std::vector<Finding>& findings) {
  std::string all;
  for (const Finding& finding : findings) {
    if (!all.empty()) all += "; ";
    all += finding.pointer + " " + finding.reason;
    if (!finding.hint.empty()) all += " (" + finding.hint + ")";
  }
  return all;
}

void ExpectSpecs(const PluginUnderTest& plugin, const std::vector<FindingRow>& rows) {
  FakeHost host(plugin.path, plugin.kind);
  for (const FindingRow& row : rows) {
    EXPECT_EQ(Findings(host.Validate(row.document)), row.findings) << row.because << "\n"
                                                                   << row.document;
  }
}

void ExpectConfigs(const PluginUnderTest& plugin, const std::vector<FindingRow>& rows) {
  for (const FindingRow& row : rows) {
    FakeHost host(plugin.path, plugin.kind);
    std::vector<Finding> findings;
    const detent_status status = host.Create("/nonexistent", row.document, &findings);
    EXPECT_EQ(status == DETENT_OK, findings.empty()) << row.because;
    EXPECT_EQ(Findings(findings), row.findings) << row.because;
  }
}

void ExpectSchemaFields(const PluginUnderTest& plugin, uint32_t which,
                        const std::vector<const char*>& fields) {
  FakeHost host(plugin.path, plugin.kind);
  const auto schema = ParseJson(host.Schema(which));
  ASSERT_TRUE(schema) << "no JSON";
  const Json* properties = schema->Find("properties");
  ASSERT_NE(properties, nullptr);
  for (const char* field : fields) EXPECT_NE(properties->Find(field), nullptr) << field;
}

}  // namespace detent::testing
