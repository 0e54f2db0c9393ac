// Tables of documents and what a plugin finds in them, for the tests of specs and configs.

#pragma once

#include <string>
#include <vector>

#include "tests/plugins/fake_host.h"

namespace detent::testing {

// "pointer Reason" of each finding, and its hint in brackets, joined by "; ".
std::string Findings(const std::vector<Finding>& findings);

struct FindingRow {
  const char* document;
  const char* findings;  // As Findings writes them; "": none.
  const char* because;
};

struct PluginUnderTest {
  const char* path;
  const char* kind;
};

// Fails the test for each row whose spec, or config, is judged otherwise.
void ExpectSpecs(const PluginUnderTest& plugin, const std::vector<FindingRow>& rows);
void ExpectConfigs(const PluginUnderTest& plugin, const std::vector<FindingRow>& rows);

// Fails the test for each field that the schema DETENT_SCHEMA_* of a plugin does not describe.
void ExpectSchemaFields(const PluginUnderTest& plugin, uint32_t which,
                        const std::vector<const char*>& fields);

}  // namespace detent::testing
