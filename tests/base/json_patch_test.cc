#include "core/base/json_patch.h"

#include <gtest/gtest.h>

#include "core/base/limits.h"

namespace detent {
namespace {

Json Read(std::string_view text) {
  return ParseJson(text).value();
}

TEST(MergePatch, ReplacesRemovesAndMerges) {
  struct Case {
    const char* target;
    const char* patch;
    const char* result;
    const char* because;
  };
  const Case cases[] = {
      {R"({"k":"old"})", R"({"k":"new"})", R"({"k":"new"})", "a member is replaced"},
      {R"({"k":1})", R"({"m":2})", R"({"k":1,"m":2})", "a member is added"},
      {R"({"k":1})", R"({"k":null})", "{}", "null removes"},
      {R"({"k":1,"m":2})", R"({"k":null})", R"({"m":2})", "and leaves the rest"},
      {R"({"k":1})", R"({"m":null})", R"({"k":1})", "removing nothing is no error"},
      {R"({"k":[1]})", R"({"k":2})", R"({"k":2})", "a list gives way"},
      {R"({"k":2})", R"({"k":[1]})", R"({"k":[1]})", "to a list too"},
      {R"({"k":[{"m":1}]})", R"({"k":[5]})", R"({"k":[5]})", "lists do not merge"},
      {R"({"k":{"x":1,"y":2}})", R"({"k":{"y":3,"x":null}})", R"({"k":{"y":3}})", "objects do"},
      {"[1,2]", "[3]", "[3]", "a patch that is no object is the result"},
      {R"({"k":1})", "null", "null", "even null"},
      {R"({"k":1})", "\"x\"", "\"x\"", "even a string"},
      {R"({"k":null})", R"({"m":1})", R"({"k":null,"m":1})", "a null of the target stays"},
      {"[1]", R"({"k":1,"m":null})", R"({"k":1})", "a target that is no object is emptied first"},
      {"{}", R"({"k":{"l":{"m":null}}})", R"({"k":{"l":{}}})", "nulls of new objects go too"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MergePatch(Read(c.target), Read(c.patch)), Read(c.result)) << c.because;
  }
}

TEST(JsonPatch, AppliesEachOperation) {
  struct Case {
    const char* target;
    const char* patch;
    const char* result;
    const char* because;
  };
  const Case cases[] = {
      {R"({"x":1})", R"([{"op":"add","path":"/y","value":2}])", R"({"x":1,"y":2})", "add a member"},
      {R"({"x":[1,3]})", R"([{"op":"add","path":"/x/1","value":2}])", R"({"x":[1,2,3]})", "insert"},
      {R"({"x":[1]})", R"([{"op":"add","path":"/x/-","value":[2]}])", R"({"x":[1,[2]]})", "append"},
      {R"({"x":[1]})", R"([{"op":"add","path":"/x/1","value":2}])", R"({"x":[1,2]})", "at the end"},
      {R"({"x":1})", R"([{"op":"add","path":"/x","value":2}])", R"({"x":2})", "add replaces"},
      {R"({"x":1})", R"([{"op":"add","path":"","value":[]}])", "[]", "add the whole"},
      {R"({"x":1,"y":2})", R"([{"op":"remove","path":"/x"}])", R"({"y":2})", "remove a member"},
      {R"({"x":[1,2,3]})", R"([{"op":"remove","path":"/x/1"}])", R"({"x":[1,3]})", "an item"},
      {R"({"x":1})", R"([{"op":"replace","path":"/x","value":null}])", R"({"x":null})", "replace"},
      {R"([1,2])", R"([{"op":"replace","path":"/1","value":3}])", "[1,3]", "replace an item"},
      {R"({"x":{"a":1},"y":{}})", R"([{"op":"move","from":"/x/a","path":"/y/b"}])",
       R"({"x":{},"y":{"b":1}})", "move a member"},
      {R"([1,2,3])", R"([{"op":"move","from":"/0","path":"/2"}])", "[2,3,1]", "move an item"},
      {R"({"x":1})", R"([{"op":"move","from":"/x","path":"/x"}])", R"({"x":1})", "to where it is"},
      {R"({"x":[1]})", R"([{"op":"copy","from":"/x","path":"/x/0"}])", R"({"x":[[1],1]})", "copy"},
      {R"({"x":1,"y":[2]})",
       R"([{"op":"test","path":"/y","value":[2.0]},{"op":"remove","path":"/x"}])", R"({"y":[2]})",
       "a test that holds"},
      {R"({"~1":1,"/":2})", R"([{"op":"remove","path":"/~01"}])", R"({"/":2})", "escapes"},
      {R"({"x":1})", R"([{"op":"add","path":"/y","value":1,"extra":true}])", R"({"x":1,"y":1})",
       "members that mean nothing are ignored"},
      {R"({"x":1})", "[]", R"({"x":1})", "nothing to do"},
      {"{}", R"([{"op":"add","path":"/x","value":null}])", R"({"x":null})", "null is a value"},
  };
  for (const Case& c : cases) {
    const auto result = ApplyJsonPatch(Read(c.target), Read(c.patch));
    ASSERT_TRUE(result) << c.because << ": " << result.error().message();
    EXPECT_EQ(*result, Read(c.result)) << c.because;
  }
}

TEST(JsonPatch, NamesTheOperationThatFailed) {
  struct Case {
    const char* patch;
    const char* error;
  };
  const Case cases[] = {
      {R"({})", "a JSON patch must be an array, not object"},
      {R"([1])", "/0: must be an object, not integer"},
      {R"([{"path":"/x"}])", "/0: 'op' is required"},
      {R"([{"op":"spin","path":"/x"}])", "/0: unknown op 'spin'"},
      {R"([{"op":"remove"}])", "/0: 'path' is required"},
      {R"([{"op":"remove","path":5}])", "/0: 'path' must be a string, not integer"},
      {R"([{"op":"remove","path":"x"}])", "/0: 'path' is no JSON pointer: 'x'"},
      {R"([{"op":"add","path":"/x"}])", "/0: 'value' is required"},
      {R"([{"op":"copy","path":"/x"}])", "/0: 'from' is required"},
      {R"([{"op":"add","path":"/a/b","value":1}])", "/0: there is no '/a'"},
      {R"([{"op":"add","path":"/l/3","value":1}])", "/0: there is no '/l/3'"},
      {R"([{"op":"add","path":"/l/01","value":1}])", "/0: there is no '/l/01'"},
      {R"([{"op":"add","path":"/x/y","value":1}])", "/0: there is no '/x/y'"},
      {R"([{"op":"remove","path":"/l/-"}])", "/0: there is no '/l/-'"},
      {R"([{"op":"replace","path":"/a~1b","value":1}])", "/0: there is no '/a~1b'"},
      {R"([{"op":"move","from":"/o","path":"/o/p"}])", "/0: a value cannot be moved into itself"},
      {R"([{"op":"test","path":"/x","value":1},{"op":"test","path":"/x","value":"1"}])",
       "/1: test failed: the value there is another"},
  };
  for (const Case& c : cases) {
    const auto result = ApplyJsonPatch(Read(R"({"x":1,"l":[1,2],"o":{}})"), Read(c.patch));
    ASSERT_FALSE(result) << c.patch;
    EXPECT_EQ(result.error(), Error(Code::kInvalid, c.error)) << c.patch;
  }
}

TEST(JsonPatch, CannotMakeADocumentExplode) {
  Json patch;
  for (int i = 0; i < 60; ++i) {
    patch.Append(Json().Set("op", "copy").Set("from", "/a").Set("path", "/a/-"));
  }
  Json target = Read(R"({"a":["some text to be doubled"]})");
  const auto result = ApplyJsonPatch(target, patch);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kTooLarge);
}

TEST(JsonPatch, CannotNestADocumentTooDeeply) {
  Json patch;
  std::string path;
  for (int i = 0; i < 100; ++i) {
    path += "/a";
    patch.Append(Json().Set("op", "add").Set("path", path).Set("value", Json::Object()));
  }
  const auto result = ApplyJsonPatch(Json::Object(), patch);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "/64: would nest deeper than 64");
}

}  // namespace
}  // namespace detent
