#include "heron/model/tuple_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>

namespace heron::model {
namespace {

using Step = TupleWalk::Step;

std::string Encode(std::span<const FieldView> fields) {
  size_t size = EncodedTupleBytes(fields);
  EXPECT_GT(size, 0u);
  std::string bytes(size, '?');
  EXPECT_EQ(EncodeTuple(fields, bytes.data()), bytes.data() + size);
  return bytes;
}

std::string Encode(std::initializer_list<FieldView> fields) {
  return Encode(std::span<const FieldView>(fields.begin(), fields.size()));
}

std::string Hex(const std::string& bytes) {
  std::string hex;
  char text[4];
  for (char c : bytes) {
    std::snprintf(text, sizeof(text), "%02x", static_cast<unsigned char>(c));
    hex += (hex.empty() ? "" : " ") + std::string(text);
  }
  return hex;
}

std::string Unhex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 3) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

void ExpectSame(const FieldView& a, const FieldView& b) {
  ASSERT_EQ(a.type(), b.type());
  EXPECT_EQ(a.bool_value(), b.bool_value());
  EXPECT_EQ(a.int64_value(), b.int64_value());
  EXPECT_EQ(std::bit_cast<uint64_t>(a.double_value()), std::bit_cast<uint64_t>(b.double_value()));
  EXPECT_EQ(a.text(), b.text());
  ASSERT_EQ(a.list_size(), b.list_size());
  ListItems left(a), right(b);
  FieldView x, y;
  while (left.Next(x)) {
    ASSERT_TRUE(right.Next(y));
    ExpectSame(x, y);
  }
  EXPECT_FALSE(right.Next(y));
}

// In a heap block of its exact size, so that ASan sees every byte read beyond it.
struct Exact {
  explicit Exact(const std::string& bytes) : data(new char[bytes.size()]), size(bytes.size()) {
    std::memcpy(data.get(), bytes.data(), size);
  }
  std::string_view view() const { return {data.get(), size}; }
  std::unique_ptr<char[]> data;
  size_t size;
};

void ExpectRoundTrip(std::span<const FieldView> fields) {
  Exact bytes(Encode(fields));
  TupleWalk walk(bytes.view());
  std::vector<FieldView> read;
  ASSERT_EQ(walk.Next(read), Step::kTuple);
  ASSERT_EQ(read.size(), fields.size());
  for (size_t i = 0; i < fields.size(); ++i) ExpectSame(fields[i], read[i]);
  EXPECT_EQ(walk.Next(read), Step::kEnd);
  EXPECT_EQ(walk.Next(read), Step::kEnd);
}

const char* DamageOf(const std::string& hex) {
  Exact bytes(Unhex(hex));
  TupleWalk walk(bytes.view());
  std::vector<FieldView> read;
  Step step = Step::kTuple;
  while (step == Step::kTuple) step = walk.Next(read);
  EXPECT_EQ(walk.Next(read), step) << "what ended a walk stays";
  return step == Step::kDamaged ? walk.damage() : "none";
}

TEST(TupleCodecTest, WritesTheDocumentedExamples) {
  EXPECT_EQ(Hex(Encode({})), "00");
  EXPECT_EQ(Hex(Encode({FieldView::String("the")})), "01 43 74 68 65");
  EXPECT_EQ(Hex(Encode({FieldView::String("the"), FieldView::Int64(3)})), "02 43 74 68 65 10 03");
  EXPECT_EQ(Hex(Encode({FieldView::String(""), FieldView::Null(), FieldView::Bool(true)})),
            "03 40 00 02");
  EXPECT_EQ(Hex(Encode({FieldView::Int64(-129), FieldView::Double(0.5)})),
            "02 11 7f ff 18 00 00 00 00 00 00 e0 3f");
  FieldView items[] = {FieldView::Int64(1), FieldView::String("a")};
  EXPECT_EQ(Hex(Encode({FieldView::List(items)})), "01 28 04 02 10 01 41 61");
  EXPECT_EQ(Hex(Encode({FieldView::Bytes("a"), FieldView::Bool(false)})), "02 22 01 61 01");
}

TEST(TupleCodecTest, EveryValueOfEveryTypeComesBack) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{127}, int64_t{128}, int64_t{-128},
                    int64_t{-129}, int64_t{32767}, int64_t{32768}, int64_t{-32768}, int64_t{-32769},
                    int64_t{2147483647}, int64_t{2147483648}, int64_t{-2147483648},
                    int64_t{-2147483649}, kMin, kMax}) {
    FieldView field = FieldView::Int64(v);
    ExpectRoundTrip({&field, 1});
  }
  for (double v : {0.0, -0.0, 1.5, std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::denorm_min(),
                   std::bit_cast<double>(uint64_t{0xfff8dead0000beef})}) {
    FieldView field = FieldView::Double(v);
    ExpectRoundTrip({&field, 1});
  }
  for (size_t size : {0, 1, 62, 63, 64, 255, 256, 65535, 65536, 1 << 20}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7);
    FieldView fields[] = {FieldView::String(text), FieldView::Bytes(text), FieldView::Null(),
                          FieldView::Bool(true), FieldView::Bool(false)};
    ExpectRoundTrip(fields);
  }
}

TEST(TupleCodecTest, ListsNestUpToTheLimitAndNoFurther) {
  std::vector<FieldView> levels(kMaxListDepth + 1);
  levels[0] = FieldView::List({});
  for (int i = 1; i <= kMaxListDepth; ++i) levels[i] = FieldView::List({&levels[i - 1], 1});
  ExpectRoundTrip({&levels[kMaxListDepth - 1], 1});
  EXPECT_EQ(EncodedTupleBytes({&levels[kMaxListDepth], 1}), 0u);

  // The same when the list inside is one that was received.
  std::string bytes = Encode({&levels[kMaxListDepth - 1], 1});
  TupleWalk walk(bytes);
  std::vector<FieldView> read;
  ASSERT_EQ(walk.Next(read), Step::kTuple);
  ExpectRoundTrip(read);
  FieldView deeper = FieldView::List(read);
  EXPECT_EQ(EncodedTupleBytes({&deeper, 1}), 0u);
}

TEST(TupleCodecTest, ReceivedListsCanBeSentOn) {
  std::string word(300, 'w');
  FieldView inner[] = {FieldView::String(word), FieldView::Null(), FieldView::Int64(1 << 20)};
  FieldView outer[] = {FieldView::List(inner), FieldView::Double(1), FieldView::List({})};
  std::string bytes = Encode({FieldView::List(outer)});
  TupleWalk walk(bytes);
  std::vector<FieldView> read;
  ASSERT_EQ(walk.Next(read), Step::kTuple);
  EXPECT_EQ(Encode(read), bytes);
  FieldView wrapped[] = {read[0], read[0]};
  FieldView list = FieldView::List(wrapped);
  ExpectRoundTrip({&list, 1});
}

TEST(TupleCodecTest, ManyFieldsUpToTheLimit) {
  std::vector<FieldView> fields(kMaxFields, FieldView::Int64(5));
  ExpectRoundTrip(fields);
  fields.push_back(FieldView::Null());
  EXPECT_EQ(EncodedTupleBytes(fields), 0u);
}

TEST(TupleCodecTest, ManyItemsInAList) {
  std::vector<FieldView> items(1000, FieldView::Null());
  for (size_t count : {254u, 255u, 256u, 1000u}) {
    FieldView list = FieldView::List(std::span(items).first(count));
    ExpectRoundTrip({&list, 1});
  }
}

TEST(TupleCodecTest, ReadsTuplesOneAfterTheOther) {
  std::string payload;
  for (int i = 0; i < 1000; ++i) {
    payload += Encode({FieldView::String("word"), FieldView::Int64(i)});
  }
  TupleWalk walk(payload);
  std::vector<FieldView> read;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(walk.Next(read), Step::kTuple);
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[1].int64_value(), i);
  }
  EXPECT_EQ(walk.Next(read), Step::kEnd);
}

TEST(TupleCodecTest, EveryCutIsFound) {
  std::string word(300, 'w');
  FieldView inner[] = {FieldView::String(word), FieldView::Int64(1 << 20), FieldView::Bytes("x")};
  std::string bytes =
      Encode({FieldView::Int64(1), FieldView::Int64(1000), FieldView::Int64(100000),
              FieldView::Int64(int64_t{1} << 40), FieldView::Double(1), FieldView::String("abc"),
              FieldView::String(word.substr(0, 100)), FieldView::String(word),
              FieldView::Bytes("abc"), FieldView::Bytes(word), FieldView::List(inner)});
  for (size_t size = 1; size < bytes.size(); ++size) {
    Exact cut(bytes.substr(0, size));
    TupleWalk walk(cut.view());
    std::vector<FieldView> read;
    ASSERT_EQ(walk.Next(read), Step::kDamaged) << "cut to " << size;
    EXPECT_NE(walk.damage(), nullptr);
  }
}

TEST(TupleCodecTest, DamageIsNamed) {
  EXPECT_STREQ(DamageOf("01"), "a value is missing");
  EXPECT_STREQ(DamageOf("01 03"), "an unknown type tag");
  EXPECT_STREQ(DamageOf("01 80"), "an unknown type tag");
  EXPECT_STREQ(DamageOf("01 11 05 00"), "an int64 is not in its shortest form");
  EXPECT_STREQ(DamageOf("01 20 01 61"), "a length is not in its shortest form");
  EXPECT_STREQ(DamageOf("01 23 01 00 00 00 61"), "a length is not in its shortest form");
  EXPECT_STREQ(DamageOf("01 23 ff ff ff ff 61"), "a string or bytes are cut off");
  EXPECT_STREQ(DamageOf("01 28 01 02 00"), "a list has more items than bytes");
  EXPECT_STREQ(DamageOf("01 28 02 01 00 00"), "a list has bytes behind its last item");
  EXPECT_STREQ(DamageOf("01 28 01 01 10 05"), "an int64 is cut off");
  EXPECT_STREQ(DamageOf("01 29 01 00 00 00 01 00 00 00 00"),
               "a list's head is not in its shortest form");
  EXPECT_STREQ(DamageOf("01 00 01 00"), "none");
}

TEST(TupleCodecTest, TooDeepListsFromOutsideAreDamage) {
  // 40 lists, each but the innermost holding the next one.
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    bytes = std::string("\x28") + static_cast<char>(bytes.size()) +
            static_cast<char>(i == 0 ? 0 : 1) + bytes;
  }
  bytes = "\x01" + bytes;
  TupleWalk walk(bytes);
  std::vector<FieldView> read;
  ASSERT_EQ(walk.Next(read), Step::kDamaged);
  EXPECT_STREQ(walk.damage(), "lists are nested too deep");
}

TEST(TupleCodecTest, RandomBytesNeverReadOutside) {
  std::mt19937 random(20240607);
  std::vector<FieldView> read;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 40, '\0');
    static constexpr uint8_t kTags[] = {0,    1,    2,    0x10, 0x11, 0x12, 0x13, 0x18,
                                        0x20, 0x21, 0x22, 0x23, 0x28, 0x29, 0x41, 0x7f};
    for (char& c : bytes) {
      c = static_cast<char>(random() % 2 ? kTags[random() % 16] : random() % 256);
    }
    Exact exact(bytes);
    TupleWalk walk(exact.view());
    while (walk.Next(read) == Step::kTuple) {
      // What was read is written as the same bytes: one value has one form.
      size_t size = EncodedTupleBytes(read);
      ASSERT_LE(walk.offset(), bytes.size());
      ASSERT_EQ(Encode(read), bytes.substr(walk.offset() - size, size));
    }
  }
}

TEST(FieldViewTest, WrongAccessGivesZero) {
  FieldView text = FieldView::String("text");
  EXPECT_EQ(text.int64_value(), 0);
  EXPECT_EQ(text.double_value(), 0);
  EXPECT_FALSE(text.bool_value());
  EXPECT_EQ(text.list_size(), 0u);
  EXPECT_TRUE(text.list_items().empty());
  EXPECT_EQ(FieldView::Int64(1).text(), "");
}

}  // namespace
}  // namespace heron::model
