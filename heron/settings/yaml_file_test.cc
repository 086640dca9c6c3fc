#include "heron/settings/yaml_file.h"

#include <gtest/gtest.h>

namespace heron::settings {
namespace {

std::string Problem(const std::string& text) {
  auto read = ParseYaml(text, "f.yaml");
  EXPECT_FALSE(read.ok()) << text;
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  return read.status().message();
}

TEST(Yaml, FlatAndNestedKeysWithLines) {
  auto read =
      ParseYaml("# comment\na.b: 1\n\nc:\n  d: two words\n  e: {f: 'x: y', g: \"\"}\n", "f.yaml");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 4u);
  EXPECT_EQ((*read)[0].key, "a.b");
  EXPECT_EQ((*read)[0].value, "1");
  EXPECT_EQ((*read)[0].line, 2);
  EXPECT_EQ((*read)[1].key, "c.d");
  EXPECT_EQ((*read)[1].value, "two words");
  EXPECT_EQ((*read)[1].line, 5);
  EXPECT_EQ((*read)[2].key, "c.e.f");
  EXPECT_EQ((*read)[2].value, "x: y");
  EXPECT_EQ((*read)[3].value, "");
}

TEST(Yaml, NothingIsNoKeys) {
  for (std::string text : {"", "\n", "# only a comment\n", "---\n", "{}"}) {
    auto read = ParseYaml(text, "f.yaml");
    ASSERT_TRUE(read.ok()) << text << read.status().ToString();
    EXPECT_TRUE(read->empty());
  }
}

TEST(Yaml, ProblemsNameFileAndLine) {
  EXPECT_EQ(Problem("a: 1\nb: 2\na: 3\n"), "f.yaml:3: a was given before, in line 1");
  EXPECT_EQ(Problem("a:\n  b: 1\na.b: 2\n"), "f.yaml:3: a.b was given before, in line 2");
  EXPECT_EQ(Problem("a: [1, 2]\n"), "f.yaml:1: lists are not read; no key has one");
  EXPECT_EQ(Problem("a:\nb: 1\n"), "f.yaml:1: a has no value");
  EXPECT_EQ(Problem("just text\n"), "f.yaml:1: lines must have the form \"key: value\"");
  EXPECT_TRUE(Problem("a: &x 1\nb: *x\n").starts_with("f.yaml:2: aliases"));
  EXPECT_TRUE(Problem("a: 1\n---\nb: 2\n").starts_with("f.yaml:"));
  EXPECT_TRUE(Problem("a: 1\n b: : 2\n").starts_with("f.yaml:2: "));
  EXPECT_TRUE(Problem("a: {b: 1\n").starts_with("f.yaml:"));
  EXPECT_TRUE(Problem("{a: 1}: 2\n").starts_with("f.yaml:1: "));
}

TEST(Yaml, EverythingIsBounded) {
  EXPECT_NE(Problem(std::string(kYamlMaxBytes + 1, '\n')).find("larger than"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{a: ";
  Problem(deep);
  Problem(std::string(100'000, '['));
  Problem(std::string(100'000, '?') + "\n");
  std::string many;
  for (size_t i = 0; i <= kYamlMaxEntries; ++i) many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_NE(Problem(many).find("more than"), std::string::npos);
}

TEST(Yaml, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadYamlFile("/nowhere/x.yaml").status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(ReadYamlFile("/").ok()) << "a folder";
}

}  // namespace
}  // namespace heron::settings
