#include "core/base/json_writer.h"

#include <gtest/gtest.h>

namespace detent {
namespace {

TEST(JsonWriter, PlacesTheCommas) {
  std::string out;
  JsonWriter writer(out);
  writer.BeginObject().Member("a", 1).Member("b", "x\"y").Key("c").BeginArray();
  writer.Value(true).Value(int64_t{-5}).BeginObject().EndObject().Raw("[null]");
  writer.BeginArray().EndArray().EndArray();
  writer.MemberIfSet("none", "").MemberIfSet("some", "z").Key("d").Value(Json().Append(1.5));
  writer.EndObject();
  EXPECT_EQ(out, R"({"a":1,"b":"x\"y","c":[true,-5,{},[null],[]],"some":"z","d":[1.5]})");
  EXPECT_TRUE(ParseJson(out));
}

TEST(JsonWriter, AppendsToWhatIsThere) {
  std::string out = "data: ";
  JsonWriter(out).BeginArray().EndArray();
  EXPECT_EQ(out, "data: []");
}

}  // namespace
}  // namespace detent
