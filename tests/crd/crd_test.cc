#include "core/crd/crd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/crd/printer_columns.h"
#include "core/crd/structural_schema.h"
#include "core/http/table.h"

namespace detent {
namespace {

TEST(Crd, NamesTheKindAsDiscoveryDoes) {
  const Json crd = CrdOf(Kind::kJobConfig, "1.2.3");
  EXPECT_EQ(CrdNameOf(Kind::kJobConfig), "jobconfigs.execution.detent.dev");
  EXPECT_EQ(*crd.At("/metadata/name"), Json("jobconfigs.execution.detent.dev"));
  EXPECT_EQ(*crd.At("/metadata/annotations/detent.dev~1version"), Json("1.2.3"));
  EXPECT_EQ(*crd.At("/spec/scope"), Json("Namespaced"));
  EXPECT_EQ(DumpJson(*crd.At("/spec/names")),
            R"({"kind":"JobConfig","listKind":"JobConfigList","plural":"jobconfigs",)"
            R"("singular":"jobconfig","shortNames":["jc"],"categories":["all","detent"]})");
}

TEST(Crd, ServesOneVersionWithAStatusOfItsOwn) {
  for (const Kind kind : kKinds) {
    const Json crd = CrdOf(kind, "1.2.3");
    ASSERT_EQ(crd.At("/spec/versions")->as_array().size(), 1u);
    EXPECT_EQ(*crd.At("/spec/versions/0/name"), Json("v1alpha1"));
    EXPECT_EQ(*crd.At("/spec/versions/0/storage"), Json(true));
    EXPECT_EQ(DumpJson(*crd.At("/spec/versions/0/subresources/status")), "{}");
    EXPECT_EQ(*crd.At("/spec/versions/0/schema/openAPIV3Schema"), StructuralSchema(kind));
  }
}

TEST(Crd, ScalesAJobConfigAloneByNumbersThatItHas) {
  for (const Kind kind : kKinds) {
    const Json crd = CrdOf(kind, "1.2.3");
    const Json* scale = crd.At("/spec/versions/0/subresources/scale");
    ASSERT_EQ(scale != nullptr, kind == Kind::kJobConfig) << NameOf(kind);
    if (scale == nullptr) continue;
    const std::pair<const char*, const char*> paths[] = {
        {"specReplicasPath", "/properties/spec/properties/concurrency/properties/maxConcurrency"},
        {"statusReplicasPath", "/properties/status/properties/active"}};
    EXPECT_EQ(scale->as_object().size(), std::size(paths)) << DumpJson(*scale);
    for (const auto& [name, place] : paths) {
      std::string path = scale->Find(name)->as_string();
      for (size_t at = 0; (at = path.find('.', at)) != path.npos;) {
        path.replace(at, 1, "/properties/");
      }
      EXPECT_EQ(path, place);
      EXPECT_NE(StructuralSchema(kind).At(path), nullptr) << path;
    }
  }
}

// What only a host can make of an object.
bool NeedsAHost(Kind kind, std::string_view name) {
  return name == "Name" || (kind == Kind::kJob && name == "Duration") ||
         (kind == Kind::kTask && name == "Executor");
}

// What stands for it where only stored fields can be shown.
bool IsInstead(std::string_view name) {
  return name == "Indexes" || name == "Finished";
}

TEST(PrinterColumns, AreThoseOfTheHostsOwnTables) {
  for (const Kind kind : kKinds) {
    std::vector<Column> wanted = ColumnsOf(kind);
    std::erase_if(wanted, [&](const Column& column) { return NeedsAHost(kind, column.name); });
    auto columns = PrinterColumnsOf(kind);
    std::erase_if(columns, [](const PrinterColumn& column) { return IsInstead(column.name); });
    ASSERT_EQ(columns.size(), wanted.size()) << NameOf(kind);
    for (size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(columns[i].name, wanted[i].name);
      EXPECT_EQ(columns[i].priority, wanted[i].priority) << wanted[i].name;
    }
  }
}

TEST(PrinterColumns, LeadToFieldsOfTheirType) {
  for (const Kind kind : kKinds) {
    const Json schema = StructuralSchema(kind);
    for (const PrinterColumn& column : PrinterColumnsOf(kind)) {
      if (column.path == ".metadata.creationTimestamp") continue;  // The server's own.
      std::string pointer(column.path.substr(0, column.path.find('[')));
      if (pointer.size() < column.path.size()) pointer += ".expression";
      for (size_t at = 0; (at = pointer.find('.', at)) != pointer.npos;) {
        pointer.replace(at, 1, "/properties/");
      }
      const Json* field = schema.At(pointer);
      ASSERT_NE(field, nullptr) << column.path;
      const bool time = field->Find("format") != nullptr && *field->Find("format") == "date-time";
      const Json* type = field->Find("type");
      EXPECT_TRUE(time ? column.type != "integer" : *type == Json(column.type)) << column.path;
    }
  }
}

}  // namespace
}  // namespace detent
