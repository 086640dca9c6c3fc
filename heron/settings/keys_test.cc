#include "heron/settings/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace heron::settings {
namespace {

TEST(Keys, TheTableIsConsistent) {
  EXPECT_TRUE(std::is_sorted(Keys().begin(), Keys().end(),
                             [](const Key& a, const Key& b) { return a.name < b.name; }));
  for (const Key& key : Keys()) {
    SCOPED_TRACE(std::string(key.name));
    EXPECT_EQ(FindKey(key.name), &key);
    EXPECT_TRUE(IsReserved(key.name));
    EXPECT_TRUE(key.description.ends_with(".")) << "a sentence";
    EXPECT_EQ(key.name.starts_with("topology."), key.scope == KeyScope::kTopology);
    if (key.default_value.find("${") == std::string_view::npos) {
      Result<std::string> normal = Normalize(key, key.default_value);
      ASSERT_TRUE(normal.ok()) << normal.status().ToString();
      EXPECT_EQ(*normal, key.default_value) << "defaults are written in the normal form";
    }
    if (key.type == KeyType::kDurationMs) {
      EXPECT_TRUE(key.name.ends_with(".ms"));
    }
    if (key.type == KeyType::kDurationUs) {
      EXPECT_TRUE(key.name.ends_with(".us"));
    }
    if (key.type == KeyType::kBytes) {
      EXPECT_TRUE(key.name.ends_with(".bytes"));
    }
  }
  for (const OldKey& old : OldKeys()) {
    EXPECT_NE(FindKey(old.now), nullptr) << old.now;
    EXPECT_EQ(FindKey(old.name), nullptr) << old.name;
  }
}

TEST(Keys, TheNearestKeyIsSuggested) {
  EXPECT_EQ(NearestKey("topology.contaners"), "topology.containers");
  EXPECT_EQ(NearestKey("Topology.Containers"), "topology.containers");
  EXPECT_EQ(NearestKey("topology.tuple.max.size.bytes"), "topology.tuple.max.bytes");
  EXPECT_EQ(NearestKey("heron.state.uri"), "heron.state.url");
  EXPECT_EQ(NearestKey("completely.different"), "");
  EXPECT_EQ(NearestKey(""), "");
  EXPECT_EQ(NearestKey(std::string(1 << 20, 'x')), "");
  EXPECT_NE(UnknownKeyMessage("topology.contaners").find("did you mean \"topology.containers\"?"),
            std::string::npos);
}

TEST(Keys, NumbersWithUnits) {
  const Key& bytes = *FindKey("topology.queue.high.bytes");
  EXPECT_EQ(*ParseNumber(bytes, "8 MiB"), 8 << 20);
  EXPECT_EQ(*ParseNumber(bytes, "128KiB"), 128 << 10);
  EXPECT_EQ(*ParseNumber(bytes, "1 gib"), 1 << 30);
  EXPECT_EQ(*ParseNumber(bytes, " 100000 "), 100000);
  EXPECT_EQ(*ParseNumber(bytes, "1 MB"), 1'000'000);
  const Key& grace = *FindKey("topology.destination.grace.ms");
  EXPECT_EQ(*ParseNumber(grace, "10 s"), 10'000);
  EXPECT_EQ(*ParseNumber(grace, "2min"), 120'000);
  EXPECT_EQ(*ParseNumber(grace, "250"), 250);
  const Key& age = *FindKey("topology.batch.max.age.us");
  EXPECT_EQ(*ParseNumber(age, "2 ms"), 2000);
}

TEST(Keys, BadNumbersSayKeyValueAndWhatIsRight) {
  const Key& key = *FindKey("topology.containers");
  for (std::string value : {"", " ", "x", "1.5", "0x10", "1e3", "-1", "0", "10001", "3 ms", "2 2",
                            "99999999999999999999", "9223372036854775807"}) {
    Status status = ParseNumber(key, value).status();
    ASSERT_EQ(status.code(), StatusCode::kInvalidArgument) << value;
    EXPECT_EQ(status.message(), "topology.containers is \"" + value +
                                    "\"; it must be a whole number from 1 to 10000");
  }
  const Key& bytes = *FindKey("topology.queue.high.bytes");
  EXPECT_FALSE(ParseNumber(bytes, "9223372036854775807 GiB").ok()) << "overflow";
  EXPECT_NE(ParseNumber(bytes, "5 s").status().message().find("a whole number of bytes"),
            std::string::npos);
  std::string binary = ParseNumber(bytes, std::string("\0\x1b[31m", 6)).status().message();
  EXPECT_EQ(binary.find('\x1b'), std::string::npos);
  EXPECT_LT(ParseNumber(bytes, std::string(1 << 20, '9')).status().message().size(), 300u);
}

TEST(Keys, EnumsTakeAnyCaseAndNameTheChoices) {
  const Key& mode = *FindKey("topology.reliability.mode");
  EXPECT_EQ(*Normalize(mode, "atleast_once"), "ATLEAST_ONCE");
  EXPECT_EQ(Normalize(mode, "once").status().message(),
            "topology.reliability.mode is \"once\"; it must be one of ATMOST_ONCE, ATLEAST_ONCE, "
            "EFFECTIVELY_ONCE");
  EXPECT_FALSE(Normalize(mode, "").ok());
  EXPECT_FALSE(Normalize(mode, "ATMOST_ONCE|ATLEAST_ONCE").ok());
}

TEST(Keys, KeyValueSplitsAtTheFirstEqualsSign) {
  EXPECT_EQ(ParseKeyValue("a=b=c=")->key, "a");
  EXPECT_EQ(ParseKeyValue("a=b=c=")->value, "b=c=");
  EXPECT_EQ(ParseKeyValue("a=")->value, "");
  for (std::string text : {"", "a", "=b", " =b"}) {
    EXPECT_EQ(ParseKeyValue(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace heron::settings
