#include "heron/settings/configuration_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "heron/settings/keys.h"

namespace heron::settings {
namespace {

TEST(ConfigurationPage, TheFileInTheTreeIsThisPage) {
  std::ifstream in("heron/docs/configuration.md", std::ios::binary);
  ASSERT_TRUE(in.good());
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(file, ConfigurationPage())
      << "run: bazel run //heron/settings:print_configuration > heron/docs/configuration.md";
}

TEST(ConfigurationPage, EveryKeyHasALineOfSixCells) {
  const std::string page = ConfigurationPage();
  for (const Key& key : Keys()) {
    SCOPED_TRACE(std::string(key.name));
    const size_t begin = page.find("\n| `" + std::string(key.name) + "` |");
    ASSERT_NE(begin, std::string::npos);
    const std::string line = page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
    int bars = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++bars;
    }
    EXPECT_EQ(bars, 7) << line;
    EXPECT_NE(line.find(key.description), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace heron::settings
