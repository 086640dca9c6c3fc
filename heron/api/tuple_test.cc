#include "heron/api/tuple.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "heron/api/errors.h"
#include "heron/api/internal/tuple_reader.h"
#include "heron/model/tuple_codec.h"

namespace heron {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void Append(std::string& payload, std::initializer_list<FieldView> fields) {
  std::string bytes(model::EncodedTupleBytes({fields.begin(), fields.size()}), '\0');
  model::EncodeTuple({fields.begin(), fields.size()}, bytes.data());
  payload += bytes;
}

struct Point {
  int x = 0;
  int y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};
struct Line {};

}  // namespace

template <>
struct Serializer<Point> {
  static std::string TypeName() { return "test.Point"; }
  static void Write(const Point& p, std::string& out) { out = {char(p.x), char(p.y)}; }
  static Point Read(std::string_view bytes) {
    if (bytes == "unrecoverable") throw Unrecoverable("never");
    if (bytes.size() != 2) throw std::length_error(std::to_string(bytes.size()) + " bytes");
    return {bytes[0], bytes[1]};
  }
};
template <>
struct Serializer<Line> {
  static std::string TypeName() { return "test.Line"; }
  static void Write(const Line&, std::string&) {}
  static Line Read(std::string_view) { return {}; }
};

namespace {

class TupleTest : public ::testing::Test {
 protected:
  TupleTest()
      : origin_{
            "split", "words", {"word", "count", "score", "ok", "raw", "tags", "gone"}, "count"} {
    FieldView tags[] = {FieldView::String("a"), FieldView::Int64(2)};
    Append(payload_, {FieldView::String("the"), FieldView::Int64(3), FieldView::Double(0.5),
                      FieldView::Bool(true), FieldView::Bytes(std::string_view("\0x", 2)),
                      FieldView::List(tags), FieldView::Null()});
    reader_.Start(payload_, origin_, 7);
  }
  const Tuple& Next() {
    const Tuple* tuple = reader_.Next();
    EXPECT_NE(tuple, nullptr);
    return *tuple;
  }
  template <typename Read>
  std::string ErrorOf(Read read) {
    try {
      read();
    } catch (const TypeError& error) {
      return error.what();
    }
    return "none";
  }

  internal::TupleOrigin origin_;
  std::string payload_;
  internal::TupleReader reader_;
};

TEST_F(TupleTest, GivesEveryTypeByIndexAndByName) {
  const Tuple& in = Next();
  EXPECT_EQ(in.size(), 7u);
  EXPECT_EQ(in.component(), "split");
  EXPECT_EQ(in.stream(), "words");
  EXPECT_EQ(in.source_task(), 7);
  EXPECT_EQ(in.String(0), "the");
  EXPECT_EQ(in.String("word"), "the");
  EXPECT_EQ(in.Int64(1), 3);
  EXPECT_EQ(in.Int64("count"), 3);
  EXPECT_EQ(in.Double(2), 0.5);
  EXPECT_EQ(in.Double("score"), 0.5);
  EXPECT_TRUE(in.Bool(3));
  EXPECT_TRUE(in.Bool("ok"));
  EXPECT_EQ(in.Bytes(4), std::string_view("\0x", 2));
  EXPECT_EQ(in.Bytes("raw").size(), 2u);
  EXPECT_EQ(in.List(5).size(), 2u);
  EXPECT_THAT(in.List("tags").ToList(), ElementsAre(Value("a"), Value(2)));
  EXPECT_TRUE(in.IsNull(6));
  EXPECT_TRUE(in.IsNull("gone"));
  EXPECT_FALSE(in.IsNull(0));
  EXPECT_EQ(in.Type(1), ValueType::kInt64);
  EXPECT_EQ(in.Type("gone"), ValueType::kNull);
  EXPECT_EQ(in.Value("count"), Value(3));
  EXPECT_EQ(in.ToValues().size(), 7u);
}

TEST_F(TupleTest, GetGivesTheTypeThatIsAskedFor) {
  const Tuple& in = Next();
  EXPECT_EQ(in.Get<std::string>(0), "the");
  EXPECT_EQ(in.Get<std::string_view>("word"), "the");
  EXPECT_EQ(in.Get<int64_t>(1), 3);
  EXPECT_EQ(in.Get<uint8_t>("count"), 3);
  EXPECT_EQ(in.Get<double>(2), 0.5);
  EXPECT_EQ(in.Get<float>(2), 0.5f);
  EXPECT_TRUE(in.Get<bool>(3));
  EXPECT_EQ(in.Get<Bytes>(4).bytes.size(), 2u);
  EXPECT_EQ(in.Get<BytesView>(4).bytes.size(), 2u);
  EXPECT_THAT(in.Get<List>(5), ElementsAre(Value("a"), Value(2)));
  EXPECT_EQ(in.Get<Value>(1), Value(3));
  EXPECT_EQ(in.Get<std::nullptr_t>(6), nullptr);
  EXPECT_EQ(in.Get<std::optional<int64_t>>(6), std::nullopt);
  EXPECT_EQ(in.Get<std::optional<int64_t>>(1), 3);
  EXPECT_THAT(ErrorOf([&] { in.Get<int64_t>(6); }), HasSubstr("as int64, but it is null"));
  EXPECT_THAT(ErrorOf([&] { in.Get<std::nullptr_t>(1); }), HasSubstr("as null, but it is int64"));
}

TEST_F(TupleTest, ANumberThatDoesNotFitIsAnError) {
  payload_.clear();
  Append(payload_, {FieldView::Int64(-1), FieldView::Int64(300)});
  reader_.Start(payload_, origin_, 7);
  const Tuple& in = Next();
  EXPECT_EQ(in.Get<int16_t>(1), 300);
  EXPECT_THAT(ErrorOf([&] { in.Get<uint8_t>(1); }),
              HasSubstr("as an integer of 8 bits, but it is 300"));
  EXPECT_THAT(ErrorOf([&] { in.Get<uint32_t>(0); }), HasSubstr("but it is -1"));
}

class UserTypeTest : public TupleTest {
 protected:
  UserTypeTest() {
    origin_ = {"map", "points", {"p", "raw", "n", "gone", "bad", "hopeless"}, "draw"};
    origin_.user_types = {"test.Point", "", "", "test.Point", "test.Point", "test.Point"};
    payload_.clear();
    Append(payload_,
           {FieldView::Bytes("ab"), FieldView::Bytes("cd"), FieldView::Int64(1), FieldView::Null(),
            FieldView::Bytes("abc"), FieldView::Bytes("unrecoverable")});
    reader_.Start(payload_, origin_, 7);
  }
};

TEST_F(UserTypeTest, IsReadByIndexAndByName) {
  const Tuple& in = Next();
  EXPECT_EQ(in.Get<Point>(0), (Point{'a', 'b'}));
  EXPECT_EQ(in.Get<Point>("p"), (Point{'a', 'b'}));
  EXPECT_EQ(in.Get<Point>("raw"), (Point{'c', 'd'})) << "bytes of no declared type";
  EXPECT_EQ(in.Get<std::optional<Point>>("gone"), std::nullopt);
  EXPECT_EQ(in.Get<std::optional<Point>>("p")->x, 'a');
  EXPECT_EQ(in.Bytes("p"), "ab") << "unread, to be passed on";
}

TEST_F(UserTypeTest, AnotherTypeNamesEverything) {
  const Tuple& in = Next();
  EXPECT_EQ(ErrorOf([&] { in.Get<Line>(0); }),
            "component 'draw' reads field 0 'p' from stream 'points' of component 'map' as "
            "test.Line, but it is test.Point");
  EXPECT_THAT(ErrorOf([&] { in.Int64(0); }), HasSubstr("as int64, but it is test.Point"));
  EXPECT_THAT(ErrorOf([&] { in.Get<Point>("n"); }), HasSubstr("as test.Point, but it is int64"));
  EXPECT_THAT(ErrorOf([&] { in.Get<Point>("gone"); }), HasSubstr("as test.Point, but it is null"));
}

TEST_F(UserTypeTest, BytesThatItsSerializerRefusesNameTheField) {
  const Tuple& in = Next();
  try {
    in.Get<Point>("bad");
    FAIL();
  } catch (const SerializerError& error) {
    EXPECT_STREQ(error.what(),
                 "component 'draw' cannot read field 4 'bad' from stream 'points' of component "
                 "'map' as test.Point: 3 bytes");
  }
  try {
    in.Get<Point>("hopeless");
    FAIL();
  } catch (const Unrecoverable& error) {
    EXPECT_THAT(error.what(), HasSubstr("field 5 'hopeless'"));
  }
}

TEST_F(TupleTest, StringsAreViewsIntoTheBatch) {
  std::string_view word = Next().String(0);
  EXPECT_GE(word.data(), payload_.data());
  EXPECT_LE(word.data() + word.size(), payload_.data() + payload_.size());
}

TEST_F(TupleTest, AWrongTypeNamesEverything) {
  const Tuple& in = Next();
  EXPECT_EQ(ErrorOf([&] { in.Int64(0); }),
            "component 'count' reads field 0 'word' from stream 'words' of component 'split' as "
            "int64, but it is string");
  EXPECT_THAT(ErrorOf([&] { in.String("count"); }),
              AllOf(HasSubstr("field 1 'count'"), HasSubstr("as string"), HasSubstr("is int64")));
  EXPECT_THAT(ErrorOf([&] { in.String(6); }), HasSubstr("but it is null"));
  EXPECT_THAT(ErrorOf([&] { in.String("raw"); }), HasSubstr("but it is bytes"));
}

TEST_F(TupleTest, AWrongIndexOrNameNamesEverything) {
  const Tuple& in = Next();
  EXPECT_EQ(ErrorOf([&] { in.Int64(7); }),
            "component 'count' reads field 7 of a tuple with 7 fields from stream 'words' of "
            "component 'split'");
  EXPECT_THAT(ErrorOf([&] { in.String("wrd"); }),
              AllOf(HasSubstr("component 'count'"), HasSubstr("'wrd'"), HasSubstr("'words'"),
                    HasSubstr("'split'"), HasSubstr("'word', 'count', 'score'")));
}

TEST_F(TupleTest, AShorterTupleThanDeclaredIsAnErrorOfItsReaderOnly) {
  Append(payload_, {FieldView::String("short")});
  reader_.Start(payload_, origin_, 7);
  Next();
  const Tuple& in = Next();
  EXPECT_EQ(in.String("word"), "short");
  EXPECT_THAT(ErrorOf([&] { in.Int64("count"); }),
              HasSubstr("field 1 'count' of a tuple with 1 fields"));
}

TEST_F(TupleTest, AReaderEndsAndTellsDamage) {
  Next();
  EXPECT_EQ(reader_.Next(), nullptr);
  EXPECT_EQ(reader_.damage(), nullptr);
  std::string damaged = payload_ + "\x01\xff";
  reader_.Start(damaged, origin_, 7);
  Next();
  EXPECT_EQ(reader_.Next(), nullptr);
  EXPECT_STREQ(reader_.damage(), "an unknown type tag");
  EXPECT_EQ(reader_.offset(), payload_.size());
  // And is good for the next batch.
  reader_.Start(payload_, origin_, 7);
  Next();
}

}  // namespace
}  // namespace heron
