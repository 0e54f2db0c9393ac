#include <gtest/gtest.h>

#include <string>

#include "core/plugin/buffer.h"
#include "core/plugin/host_table.h"
#include "detent/services/json.h"

namespace detent {
namespace {

const detent_json& Service() {
  return *static_cast<const detent_json*>(JsonService());
}

detent_bytes Bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

class JsonServiceTest : public ::testing::Test {
 protected:
  JsonServiceTest() {
    const detent_bytes bytes = Bytes(text_);
    EXPECT_EQ(Service().parse(0, &bytes, 0, &doc_, nullptr), DETENT_OK);
  }
  ~JsonServiceTest() override { Service().release(doc_); }
  detent_node At(const std::string& pointer) {
    const detent_str view{pointer.data(), pointer.size()};
    return Service().pointer(doc_, Service().root(doc_), &view);
  }

  const std::string text_ = R"({"a/b":[1,1.0,1.5,-2,true,null],"s":"x\u0000y","o":{"k":"v"}})";
  detent_doc doc_ = 0;
};

TEST_F(JsonServiceTest, FollowsPointersAndReadsKinds) {
  struct Row {
    const char* pointer;
    uint32_t kind;
  };
  const Row rows[] = {{"", DETENT_JSON_OBJECT},        {"/a~1b", DETENT_JSON_ARRAY},
                      {"/a~1b/0", DETENT_JSON_NUMBER}, {"/a~1b/4", DETENT_JSON_BOOL},
                      {"/a~1b/5", DETENT_JSON_NULL},   {"/o/k", DETENT_JSON_STRING},
                      {"/a~1b/6", DETENT_JSON_NONE},   {"/a~1b/00", DETENT_JSON_NONE},
                      {"/none/x", DETENT_JSON_NONE},   {"o", DETENT_JSON_NONE},
                      {"/a~2b", DETENT_JSON_NONE}};
  for (const Row& row : rows) {
    EXPECT_EQ(Service().kind(doc_, At(row.pointer)), row.kind) << row.pointer;
  }
}

TEST_F(JsonServiceTest, ReadsValuesOfTheirKindOnly) {
  int64_t number = 0;
  EXPECT_EQ(Service().i64(doc_, At("/a~1b/1"), &number), DETENT_OK) << "1.0 is an integer";
  EXPECT_EQ(number, 1);
  EXPECT_EQ(Service().i64(doc_, At("/a~1b/2"), &number), DETENT_E_INVALID);
  EXPECT_EQ(Service().i64(doc_, At("/nothing"), &number), DETENT_E_NOT_FOUND);
  uint64_t positive = 0;
  EXPECT_EQ(Service().u64(doc_, At("/a~1b/3"), &positive), DETENT_E_INVALID);
  detent_str text{};
  EXPECT_EQ(Service().str(doc_, At("/s"), &text), DETENT_OK);
  EXPECT_EQ(std::string(text.ptr, text.len), std::string("x\0y", 3));
  EXPECT_EQ(Service().str(doc_, At("/o"), &text), DETENT_E_INVALID);
  EXPECT_EQ(Service().key_at(doc_, Service().root(doc_), 2, &text), DETENT_OK);
  EXPECT_EQ(std::string(text.ptr, text.len), "o");
}

TEST_F(JsonServiceTest, WritesBuffersThatItsCallerOwns) {
  detent_buf buffer = 0;
  ASSERT_EQ(Service().serialise(0, doc_, At("/o"), 0, &buffer), DETENT_OK);
  EXPECT_EQ(BufferView(buffer), R"({"k":"v"})");
  ReleaseBuffer(buffer);
  EXPECT_FALSE(BufferLives(buffer));
}

TEST(JsonService, AnswersNothingAboutADocumentThatHasEnded) {
  const std::string text = "[1]";
  const detent_bytes bytes = Bytes(text);
  detent_doc doc = 0;
  ASSERT_EQ(Service().parse(0, &bytes, 0, &doc, nullptr), DETENT_OK);
  Service().release(doc);
  Service().release(doc);
  EXPECT_EQ(Service().root(doc), 0u);
  EXPECT_EQ(Service().length(doc, 1), 0u);
  const std::string wrong = "{\"a\":}";
  const detent_bytes broken = Bytes(wrong);
  EXPECT_EQ(Service().parse(0, &broken, 0, &doc, nullptr), DETENT_E_INVALID);
}

TEST(HostTable, KnowsAbsentServicesByNameAndStrangersNotAtAll) {
  EXPECT_NE(ServiceTable("detent.kv/1", false), nullptr);
  EXPECT_EQ(ServiceTable("detent.kv/1x", false), nullptr);
  EXPECT_EQ(ServiceTable("org.stranger/1", true), nullptr);
}

TEST(HostTable, KnowsAClusterOnlyWhereThereIsOne) {
  for (const char* id : {"detent.kube/1", "detent.watch/1"}) {
    EXPECT_NE(ServiceTable(id, true), nullptr) << id;
    EXPECT_EQ(ServiceTable(id, false), nullptr) << id;
  }
}

}  // namespace
}  // namespace detent
