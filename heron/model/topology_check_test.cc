#include "heron/model/topology_check.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace heron::model {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kRight[] = R"pb(
  name: "word-count"
  api_version: 1
  components {
    name: "lines"
    kind: SPOUT
    parallelism: 2
    bounded: true
    outputs {
      name: "default"
      fields { name: "line" type: STRING }
    }
    outputs {
      name: "errors"
      fields { name: "code" type: INT64 }
      fields { name: "text" }
    }
  }
  components {
    name: "split"
    kind: BOLT
    parallelism: 4
    inputs { component: "lines" stream: "default" grouping: SHUFFLE }
    outputs {
      name: "default"
      fields { name: "word" type: STRING }
    }
  }
  components {
    name: "count"
    kind: BOLT
    parallelism: 4
    inputs { component: "split" stream: "default" grouping: FIELDS fields: "word" }
    inputs { component: "lines" stream: "errors" grouping: GLOBAL }
    config { key: "my.key" value: "1" }
  }
  config { key: "topology.tuple.max.bytes" value: "1 MiB" }
)pb";

proto::Topology Right() {
  proto::Topology topology;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kRight, &topology));
  return topology;
}

proto::Component& Lines(proto::Topology& t) { return *t.mutable_components(0); }
proto::Component& Split(proto::Topology& t) { return *t.mutable_components(1); }
proto::Component& Count(proto::Topology& t) { return *t.mutable_components(2); }

// Of a topology that is right but for `change`.
template <typename Change>
std::vector<std::string> After(Change change) {
  proto::Topology topology = Right();
  change(topology);
  return CheckTopology(topology);
}

TEST(TopologyCheckTest, ARightTopologyHasNoMistakes) {
  EXPECT_THAT(CheckTopology(Right()), IsEmpty());
}

TEST(TopologyCheckTest, Empty) {
  proto::Topology topology;
  topology.set_name("t");
  EXPECT_THAT(CheckTopology(topology), ElementsAre(HasSubstr("the topology is empty")));
}

TEST(TopologyCheckTest, Names) {
  EXPECT_THAT(After([](auto& t) { t.set_name("a/b"); }),
              ElementsAre(HasSubstr("topology name 'a/b'")));
  EXPECT_THAT(After([](auto& t) { Count(t).set_name("a b"); }),
              ElementsAre(AllOf(HasSubstr("'a b'"), HasSubstr("letters, digits"))));
  EXPECT_THAT(After([](auto& t) { Count(t).set_name("__count"); }),
              ElementsAre(AllOf(HasSubstr("'__count'"), HasSubstr("reserved"))));
  EXPECT_THAT(After([](auto& t) { Count(t).set_name("split"); }),
              Contains(AllOf(HasSubstr("bolt 'split'"), HasSubstr("another component"))));
  EXPECT_THAT(
      After([](auto& t) { Lines(t).mutable_outputs(1)->set_name("__errors"); }),
      Contains(AllOf(HasSubstr("'lines'"), HasSubstr("'__errors'"), HasSubstr("reserved"))));
}

TEST(TopologyCheckTest, Parallelism) {
  EXPECT_THAT(After([](auto& t) { Split(t).set_parallelism(0); }),
              ElementsAre(AllOf(HasSubstr("'split'"), HasSubstr("parallelism 0"),
                                HasSubstr("1 to 10000"))));
  EXPECT_THAT(After([](auto& t) { Split(t).set_parallelism(10001); }),
              ElementsAre(HasSubstr("parallelism 10001")));
  EXPECT_THAT(After([](auto& t) { Split(t).set_parallelism(10000); }), IsEmpty());
}

TEST(TopologyCheckTest, Inputs) {
  EXPECT_THAT(After([](auto& t) { Split(t).mutable_inputs(0)->set_component("lnes"); }),
              ElementsAre(AllOf(HasSubstr("bolt 'split'"), HasSubstr("'lnes'"),
                                HasSubstr("does not exist"))));
  EXPECT_THAT(After([](auto& t) { Count(t).mutable_inputs(1)->set_stream("erors"); }),
              ElementsAre(AllOf(HasSubstr("bolt 'count'"), HasSubstr("'erors'"),
                                HasSubstr("'lines'"), HasSubstr("'default', 'errors'"))));
  EXPECT_THAT(After([](auto& t) { Count(t).mutable_inputs(0)->set_fields(0, "wrd"); }),
              ElementsAre(AllOf(HasSubstr("bolt 'count'"), HasSubstr("'wrd'"), HasSubstr("'split'"),
                                HasSubstr("the fields are 'word'"))));
  EXPECT_THAT(After([](auto& t) { Count(t).mutable_inputs(0)->clear_fields(); }),
              ElementsAre(HasSubstr("at least one field")));
  EXPECT_THAT(After([](auto& t) { Count(t).mutable_inputs(0)->add_fields("word"); }),
              ElementsAre(HasSubstr("given twice")));
  EXPECT_THAT(After([](auto& t) { Split(t).mutable_inputs(0)->add_fields("line"); }),
              ElementsAre(HasSubstr("takes no fields")));
  EXPECT_THAT(After([](auto& t) { Split(t).clear_inputs(); }),
              ElementsAre(AllOf(HasSubstr("bolt 'split'"), HasSubstr("has no input"))));
  EXPECT_THAT(After([](auto& t) { *Split(t).add_inputs() = Split(t).inputs(0); }),
              ElementsAre(AllOf(HasSubstr("'split'"), HasSubstr("'lines'"), HasSubstr("twice"))));
  EXPECT_THAT(After([](auto& t) { *Lines(t).add_inputs() = Split(t).inputs(0); }),
              Contains(HasSubstr("spout cannot have inputs")));
}

TEST(TopologyCheckTest, GroupingsWithoutFields) {
  for (auto [kind, name] :
       {std::pair(proto::SHUFFLE, "shuffle"), std::pair(proto::ALL, "all"),
        std::pair(proto::GLOBAL, "global"), std::pair(proto::LOCAL_OR_SHUFFLE, "local-or-shuffle"),
        std::pair(proto::NONE, "none"), std::pair(proto::DIRECT, "direct"),
        std::pair(proto::CUSTOM, "custom")}) {
    EXPECT_THAT(After([k = kind](auto& t) { Split(t).mutable_inputs(0)->set_grouping(k); }),
                IsEmpty());
    EXPECT_THAT(After([k = kind](auto& t) {
                  Split(t).mutable_inputs(0)->set_grouping(k);
                  Split(t).mutable_inputs(0)->add_fields("line");
                }),
                ElementsAre(AllOf(HasSubstr("bolt 'split'"), HasSubstr("stream 'default'"),
                                  HasSubstr("'lines'"),
                                  HasSubstr(std::string(name) + " grouping takes no fields"))));
  }
}

TEST(TopologyCheckTest, PartialKeyNeedsFieldsThatExist) {
  auto with = [](std::vector<std::string> fields) {
    return After([&](auto& t) {
      auto* input = Count(t).mutable_inputs(0);
      input->set_grouping(proto::PARTIAL_KEY);
      input->clear_fields();
      for (const std::string& field : fields) input->add_fields(field);
    });
  };
  EXPECT_THAT(with({"word"}), IsEmpty());
  EXPECT_THAT(with({}), ElementsAre(AllOf(HasSubstr("bolt 'count'"), HasSubstr("stream 'default'"),
                                          HasSubstr("'split'"),
                                          HasSubstr("partial-key grouping needs at least one"))));
  EXPECT_THAT(with({"wrd"}), ElementsAre(AllOf(HasSubstr("bolt 'count'"), HasSubstr("'wrd'"),
                                               HasSubstr("the fields are 'word'"))));
  EXPECT_THAT(with({"word", "word"}), ElementsAre(HasSubstr("given twice")));
}

TEST(TopologyCheckTest, GroupingsThatDoNotExistAreRefused) {
  for (auto [kind, name] : {std::pair(static_cast<proto::GroupingKind>(57), "unknown (57)"),
                            std::pair(proto::GROUPING_KIND_UNSPECIFIED, "unknown (0)")}) {
    EXPECT_THAT(After([k = kind](auto& t) { Split(t).mutable_inputs(0)->set_grouping(k); }),
                ElementsAre(AllOf(HasSubstr("bolt 'split'"), HasSubstr("stream 'default'"),
                                  HasSubstr(name), HasSubstr("not supported"))));
  }
}

TEST(TopologyCheckTest, Outputs) {
  EXPECT_THAT(After([](auto& t) { *Lines(t).add_outputs() = Lines(t).outputs(0); }),
              ElementsAre(AllOf(HasSubstr("'lines'"), HasSubstr("'default'"), HasSubstr("twice"))));
  EXPECT_THAT(
      After([](auto& t) {
        *Lines(t).mutable_outputs(0)->add_fields() = Lines(t).outputs(0).fields(0);
      }),
      ElementsAre(AllOf(HasSubstr("'lines'"), HasSubstr("field 'line'"), HasSubstr("twice"))));
  EXPECT_THAT(After([](auto& t) { Lines(t).mutable_outputs(1)->mutable_fields(1)->set_name(""); }),
              ElementsAre(HasSubstr("field name ''")));
  EXPECT_THAT(
      After([](auto& t) {
        Lines(t).mutable_outputs(1)->mutable_fields(1)->set_type(static_cast<proto::ValueType>(9));
      }),
      ElementsAre(HasSubstr("unknown type 9")));
  EXPECT_THAT(After([](auto& t) {
                for (int i = 0; i < 255; ++i) {
                  Lines(t).mutable_outputs(0)->add_fields()->set_name("f" + std::to_string(i));
                }
              }),
              ElementsAre(HasSubstr("256 fields")));
}

TEST(TopologyCheckTest, UserTypes) {
  auto with = [](const std::string& name, proto::ValueType type) {
    return After([&](auto& t) {
      Lines(t).mutable_outputs(1)->mutable_fields(1)->set_user_type(name);
      Lines(t).mutable_outputs(1)->mutable_fields(1)->set_type(type);
    });
  };
  EXPECT_THAT(with("shop.Order", proto::BYTES), IsEmpty());
  EXPECT_THAT(with("shop.Order", proto::STRING),
              ElementsAre("spout 'lines': stream 'errors': field 'text' of the type 'shop.Order' "
                          "travels as bytes, but is declared otherwise"));
  EXPECT_THAT(with(std::string(129, 'x'), proto::BYTES), ElementsAre(HasSubstr("1 to 128 bytes")));
  EXPECT_THAT(with("\xff", proto::BYTES), ElementsAre(HasSubstr("field 'text'")));
}

TEST(TopologyCheckTest, NoSpout) {
  EXPECT_THAT(After([](auto& t) {
                Lines(t).set_kind(proto::BOLT);
                Lines(t).set_bounded(false);
              }),
              ElementsAre(HasSubstr("no spout"), HasSubstr("bolt 'lines': has no input")));
}

// "count" back to "split".
proto::InputStream& Loop(proto::Topology& t) {
  *Count(t).add_outputs() = Split(t).outputs(0);
  auto* input = Split(t).add_inputs();
  input->set_component("count");
  input->set_stream("default");
  input->set_grouping(proto::SHUFFLE);
  return *input;
}

TEST(TopologyCheckTest, CyclesAreShown) {
  EXPECT_THAT(After([](auto& t) { Loop(t); }),
              ElementsAre(AllOf(HasSubstr("cycle: 'split' -> 'count' -> 'split'"),
                                HasSubstr("heron::Feedback"))));
  EXPECT_THAT(After([](auto& t) {
                auto* input = Split(t).add_inputs();
                input->set_component("split");
                input->set_stream("default");
                input->set_grouping(proto::SHUFFLE);
              }),
              ElementsAre(HasSubstr("'split' -> 'split'")));
}

TEST(TopologyCheckTest, CyclesOnPurpose) {
  EXPECT_THAT(After([](auto& t) {
                Lines(t).set_bounded(false);
                Loop(t).set_feedback(true);
              }),
              IsEmpty());
  EXPECT_THAT(After([](auto& t) { Loop(t).set_feedback(true); }),
              ElementsAre(AllOf(HasSubstr("bolt 'split'"), HasSubstr("component 'count'"),
                                HasSubstr("every spout is bounded"))));
  EXPECT_THAT(After([](auto& t) {
                Lines(t).set_bounded(false);
                Count(t).mutable_inputs(0)->set_feedback(true);
              }),
              ElementsAre(AllOf(HasSubstr("bolt 'count'"), HasSubstr("component 'split'"),
                                HasSubstr("leave Feedback out"))));
  EXPECT_THAT(After([](auto& t) {
                Lines(t).set_bounded(false);
                Loop(t).set_feedback(true);
                auto* input = Split(t).add_inputs();
                input->set_component("split");
                input->set_stream("default");
                input->set_grouping(proto::SHUFFLE);
              }),
              ElementsAre(HasSubstr("'split' -> 'split'")))
      << "another one that nobody meant";
}

TEST(TopologyCheckTest, TheNearestNameIsProposed) {
  auto input = [](auto change) {
    return After([&](auto& t) { change(*Count(t).mutable_inputs(0)); });
  };
  EXPECT_THAT(input([](auto& i) { i.set_component("splti"); }),
              ElementsAre("bolt 'count': reads stream 'default' of component 'splti', which does "
                          "not exist; did you mean 'split'?"));
  EXPECT_THAT(input([](auto& i) { i.set_component("elephant"); }),
              ElementsAre(HasSubstr("the components are 'lines', 'split', 'count'")));
  EXPECT_THAT(input([](auto& i) { i.set_stream("Default"); }),
              ElementsAre(HasSubstr("it declares 'default'; did you mean 'default'?")));
  EXPECT_THAT(input([](auto& i) { i.set_fields(0, "wrod"); }),
              ElementsAre(HasSubstr("the fields are 'word'; did you mean 'word'?")));
}

TEST(TopologyCheckTest, ALongChainIsNoProblem) {
  proto::Topology t = Right();
  for (int i = 0; i < 900; ++i) {
    proto::Component* bolt = t.add_components();
    *bolt = Split(t);
    bolt->set_name("b" + std::to_string(900 - i));
    if (i < 899) bolt->mutable_inputs(0)->set_component("b" + std::to_string(899 - i));
  }
  EXPECT_THAT(CheckTopology(t), IsEmpty());
}

TEST(TopologyCheckTest, Configuration) {
  EXPECT_THAT(After([](auto& t) { (*t.mutable_config())["k"] = "\xff"; }),
              ElementsAre(AllOf(HasSubstr("'k'"), HasSubstr("UTF-8"))));
}

TEST(TopologyCheckTest, Ticks) {
  for (int64_t us : {kMinTickUs, int64_t{1'500'000}, kMaxTickUs}) {
    EXPECT_THAT(After([&](auto& t) { Split(t).set_tick_interval_us(us); }), IsEmpty());
  }
  EXPECT_THAT(After([](auto& t) { Split(t).set_tick_interval_us(999); }),
              ElementsAre("bolt 'split': tick interval 999 us is out of range; it must be 1 ms to "
                          "1 day"));
  EXPECT_THAT(After([](auto& t) { Split(t).set_tick_interval_us(0); }),
              ElementsAre(HasSubstr("interval 0 ms")));
  EXPECT_THAT(After([](auto& t) { Split(t).set_tick_interval_us(kMaxTickUs + 1000); }),
              ElementsAre(HasSubstr("interval 86400001 ms")));
  EXPECT_THAT(After([](auto& t) { Lines(t).set_tick_interval_us(1'000'000); }),
              ElementsAre(HasSubstr("spout 'lines': only bolts get ticks")));
}

TEST(TopologyCheckTest, Others) {
  EXPECT_THAT(After([](auto& t) { Count(t).set_bounded(true); }),
              ElementsAre(HasSubstr("only spouts can be bounded")));
  EXPECT_THAT(After([](auto& t) { t.set_api_version(2); }),
              ElementsAre(HasSubstr("API version 2")));
  EXPECT_THAT(After([](auto& t) { Count(t).clear_kind(); }),
              ElementsAre(HasSubstr("neither a spout nor a bolt")));
}

TEST(TopologyCheckTest, AllMistakesAtOnce) {
  EXPECT_EQ(After([](auto& t) {
              Lines(t).set_parallelism(0);
              Split(t).mutable_inputs(0)->set_stream("nothing");
              Count(t).mutable_inputs(0)->set_fields(0, "wrd");
            }).size(),
            3u);
}

}  // namespace
}  // namespace heron::model
