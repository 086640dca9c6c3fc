// Pins which task gets which key, for ever: a topology's state lives where its keys go. If this
// test fails, the code is wrong, not the file. `key_routing_golden_test --write=PATH` writes the
// file; that is for adding keys, never for changing lines.
//
// A line: key, hash in hex, key group of 128, then the task's index for parallelism 1, 3, 4, 7 and
// 100 (100: of 1024 groups).
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "heron/model/tuple_codec.h"
#include "heron/routing/key_groups.h"
#include "heron/routing/key_hash.h"

namespace heron::routing {
namespace {

using model::FieldView;

constexpr uint32_t kParallelisms[] = {1, 3, 4, 7, 100};
constexpr char kHeader[] = "key\thash\tgroup\tp1\tp3\tp4\tp7\tp100\n";

// A key in the packed form of a tuple, in hex: one line of the file means the same in every
// language.
struct Key {
  std::string name;
  std::string packed;
};

std::string Hex(std::string_view bytes) {
  std::string hex;
  char text[3];
  for (char c : bytes) {
    std::snprintf(text, sizeof(text), "%02x", static_cast<unsigned char>(c));
    hex += text;
  }
  return hex;
}

Key Packed(std::initializer_list<FieldView> fields) {
  std::string bytes(model::EncodedTupleBytes({fields.begin(), fields.size()}), '\0');
  model::EncodeTuple({fields.begin(), fields.size()}, bytes.data());
  return {Hex(bytes), bytes};
}

// 1000 keys. Only the engine's own output of the generator is used: it is the same everywhere,
// distributions are not.
std::vector<Key> Keys() {
  std::mt19937_64 random(1);
  std::vector<Key> keys;
  for (const FieldView& field :
       {FieldView::Null(), FieldView::Bool(false), FieldView::Bool(true), FieldView::String(""),
        FieldView::Bytes(""), FieldView::List({}), FieldView::Int64(INT64_MIN),
        FieldView::Int64(INT64_MAX), FieldView::Double(0.0), FieldView::Double(-0.0),
        FieldView::Double(std::bit_cast<double>(uint64_t{0x7ff8000000000000})),
        FieldView::Double(std::bit_cast<double>(uint64_t{0xfff0000000000001})),
        FieldView::Double(std::bit_cast<double>(uint64_t{0x7ff0000000000000})), FieldView::Int64(1),
        FieldView::Double(1), FieldView::String("1"), FieldView::Bytes("1")}) {
    keys.push_back(Packed({field}));
  }
  for (int64_t i = -100; i < 100; ++i) keys.push_back(Packed({FieldView::Int64(i)}));
  for (int i = 0; i < 100; ++i) {
    keys.push_back(Packed({FieldView::Int64(static_cast<int64_t>(random()))}));
    keys.push_back(Packed({FieldView::Double(static_cast<double>(random() >> 12) / 1024)}));
  }
  for (int i = 0; i < 250; ++i)
    keys.push_back(Packed({FieldView::String("word" + std::to_string(i))}));
  for (size_t size = 1; keys.size() < 800; size += 2) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    keys.push_back(Packed({FieldView::String(bytes)}));
    keys.push_back(Packed({FieldView::Bytes(bytes)}));
  }
  for (int64_t i = 0; keys.size() < 900; ++i) {
    keys.push_back(
        Packed({FieldView::String("user" + std::to_string(i)), FieldView::Int64(i % 7)}));
  }
  for (int64_t i = 0; keys.size() < 980; ++i) {
    FieldView inner[] = {FieldView::Int64(i), FieldView::Null()};
    FieldView items[] = {FieldView::String("x"), FieldView::List(inner),
                         FieldView::Bool(i % 2 == 0)};
    keys.push_back(Packed({FieldView::List(items)}));
  }
  for (int64_t i = 0; keys.size() < 1000; ++i) {
    FieldView f = FieldView::Int64(i);
    keys.push_back(Packed({f, f, f, f, f, f, f, f, f, f, f, FieldView::String("eleven and one")}));
  }
  return keys;
}

std::string Line(const Key& key) {
  model::TupleWalk walk(key.packed);
  std::vector<FieldView> fields;
  EXPECT_EQ(walk.Next(fields), model::TupleWalk::Step::kTuple);
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < fields.size(); ++i) indices.push_back(i);
  uint64_t hash = HashKey(fields, indices);
  char text[64];
  std::snprintf(text, sizeof(text), "\t%016llx\t%u", static_cast<unsigned long long>(hash),
                KeyGroupOf(hash, kMinKeyGroups));
  std::string line = key.name + text;
  for (uint32_t parallelism : kParallelisms) {
    uint32_t groups = DefaultKeyGroups(parallelism);
    line += "\t" + std::to_string(OwnerOf(KeyGroupOf(hash, groups), groups, parallelism));
  }
  return line;
}

TEST(KeyRoutingGoldenTest, EveryKeyGoesWhereItAlwaysWent) {
  std::ifstream file("tests/golden/key_routing.tsv");
  ASSERT_TRUE(file) << "tests/golden/key_routing.tsv is missing";
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_EQ(line + "\n", kHeader);
  std::vector<Key> keys = Keys();
  ASSERT_EQ(keys.size(), 1000u);
  for (const Key& key : keys) {
    ASSERT_TRUE(std::getline(file, line)) << "the file ends before key " << key.name;
    ASSERT_EQ(Line(key), line);
  }
  EXPECT_FALSE(std::getline(file, line)) << "the file has a line more: " << line;
}

bool Write(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << kHeader;
  for (const Key& key : Keys()) file << Line(key) << "\n";
  file.close();
  return file.good();
}

}  // namespace
}  // namespace heron::routing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kWrite = "--write=";
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with(kWrite)) continue;
    return heron::routing::Write(std::string(argument.substr(kWrite.size()))) ? 0 : 1;
  }
  return RUN_ALL_TESTS();
}
