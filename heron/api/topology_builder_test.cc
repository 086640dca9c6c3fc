#include "heron/api/topology_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <optional>

#include "heron/api/internal/builder_access.h"
#include "heron/api/internal/task_facts.h"
#include "heron/model/described.h"
#include "heron/model/task_layout.h"
#include "proto/plan.pb.h"

namespace heron {
namespace {

using internal::BuilderAccess;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Source : public Spout {
 public:
  explicit Source(std::string p = "") : path(std::move(p)) {}
  Next NextTuple() override { return Next::Ended(); }
  std::string path;
};

class Fixed : public Bolt {  // neither copied nor moved
 public:
  explicit Fixed(int v) : value(v) {}
  Fixed(const Fixed&) = delete;
  Fixed& operator=(const Fixed&) = delete;
  void Execute(const Tuple&) override {}
  int value;
};

void Fill(TopologyBuilder& t) {
  auto lines =
      t.AddSpout("lines", [] { return Source(); })
          .Parallelism(2)
          .Bounded()
          .Declares<std::string>("line")
          .DeclaresStream<int, std::optional<double>, Value>("errors", "code", "at", "what");
  auto split = t.AddBolt("split", [] { return std::make_unique<Fixed>(1); })
                   .Parallelism(4)
                   .Declares<std::string_view, int64_t>("word", "position")
                   .Shuffle(lines);
  t.AddBolt("count", [] { return Fixed(2); })
      .Fields(split, "word", "position")
      .All(lines["errors"])
      .Config("my.number", 4)
      .Config("my.flag", true)
      .Config("my.rate", 0.5)
      .Config("my.text", "text");
  t.AddBolt("sink", [] { return Fixed(3); }).Global("count").Shuffle({"lines", "errors"});
  t.Config("topology.tuple.max.bytes", 1 << 20).Config("mine", "yes");
}

TEST(TopologyBuilderTest, DescribesWhatWasBuilt) {
  TopologyBuilder t("word-count");
  Fill(t);
  const proto::Topology& d = BuilderAccess::Definition(t);
  EXPECT_EQ(d.name(), "word-count");
  EXPECT_EQ(d.api_version(), 1u);
  EXPECT_EQ(d.config().at("topology.tuple.max.bytes"), "1048576");
  EXPECT_EQ(d.config().at("mine"), "yes");
  ASSERT_EQ(d.components_size(), 4);
  const proto::Component& lines = d.components(0);
  EXPECT_EQ(lines.kind(), proto::SPOUT);
  EXPECT_EQ(lines.parallelism(), 2u);
  EXPECT_TRUE(lines.bounded());
  ASSERT_EQ(lines.outputs_size(), 2);
  EXPECT_EQ(lines.outputs(0).name(), "default");
  EXPECT_EQ(lines.outputs(0).fields(0).name(), "line");
  EXPECT_EQ(lines.outputs(0).fields(0).type(), proto::STRING);
  EXPECT_EQ(lines.outputs(1).name(), "errors");
  EXPECT_EQ(lines.outputs(1).fields(0).type(), proto::INT64);
  EXPECT_EQ(lines.outputs(1).fields(1).type(), proto::DOUBLE);
  EXPECT_EQ(lines.outputs(1).fields(2).type(), proto::VALUE_TYPE_UNSPECIFIED);
  const proto::Component& count = d.components(2);
  EXPECT_EQ(count.kind(), proto::BOLT);
  EXPECT_EQ(count.parallelism(), 1u);
  ASSERT_EQ(count.inputs_size(), 2);
  EXPECT_EQ(count.inputs(0).component(), "split");
  EXPECT_EQ(count.inputs(0).stream(), "default");
  EXPECT_EQ(count.inputs(0).grouping(), proto::FIELDS);
  EXPECT_THAT(count.inputs(0).fields(), ElementsAre("word", "position"));
  EXPECT_EQ(count.inputs(1).stream(), "errors");
  EXPECT_EQ(count.inputs(1).grouping(), proto::ALL);
  EXPECT_EQ(count.config().at("my.number"), "4");
  EXPECT_EQ(count.config().at("my.flag"), "true");
  EXPECT_EQ(count.config().at("my.rate"), "0.5");
  EXPECT_EQ(count.config().at("my.text"), "text");
  EXPECT_EQ(d.components(3).inputs(0).grouping(), proto::GLOBAL);
  EXPECT_EQ(d.components(3).inputs(1).stream(), "errors");
}

TEST(TopologyBuilderTest, TicksInAnyUnit) {
  auto us_of = [](const std::function<void(BoltHandle&)>& set_tick) {
    TopologyBuilder t("t");
    auto s = t.AddSpout("s", [] { return Source(); }).Declares<int>("n");
    BoltHandle bolt = t.AddBolt("b", [] { return Fixed(1); });
    set_tick(bolt.Shuffle(s));
    const int64_t us = BuilderAccess::Definition(t).components(1).tick_interval_us();
    EXPECT_EQ(t.Build().ok(), us >= 1000 && us <= 86'400'000'000);
    return us;
  };
  using namespace std::chrono;  // NOLINT(google-build-using-namespace)
  EXPECT_EQ(us_of([](auto& b) { b.Tick(1s); }), 1'000'000);
  EXPECT_EQ(us_of([](auto& b) { b.Tick(1500us); }), 1500);
  EXPECT_EQ(us_of([](auto& b) { b.Tick(duration<double>(0.25)); }), 250'000);
  EXPECT_EQ(us_of([](auto& b) { b.Tick(24h); }), 86'400'000'000);
  EXPECT_EQ(us_of([](auto& b) { b.Tick(0ms); }), 0);
  EXPECT_EQ(us_of([](auto& b) { b.Tick(-1s); }), -1'000'000);
  us_of([](auto& b) { b.Tick(hours::max()); });
  us_of([](auto& b) { b.Tick(hours::min()); });
  us_of([](auto& b) { b.Tick(duration<double>(std::numeric_limits<double>::quiet_NaN())); });
}

struct Order {};
struct Nameless {};

}  // namespace

template <>
struct Serializer<Order> {
  static std::string TypeName() { return "shop.Order"; }
  static void Write(const Order&, std::string&) {}
  static Order Read(std::string_view) { return {}; }
};
template <>
struct Serializer<Nameless> {
  static std::string TypeName() { return ""; }
  static void Write(const Nameless&, std::string&) {}
  static Nameless Read(std::string_view) { return {}; }
};

namespace {

TEST(TopologyBuilderTest, OwnTypesAreDeclaredByName) {
  TopologyBuilder t("t");
  t.AddSpout("s", [] { return Source(); })
      .Declares<Order, std::optional<Order>, Bytes>("a", "b", "c")
      .DeclaresStream<Nameless>("more", "d");
  const proto::OutputStream& output = BuilderAccess::Definition(t).components(0).outputs(0);
  EXPECT_EQ(output.fields(0).type(), proto::BYTES);
  EXPECT_EQ(output.fields(0).user_type(), "shop.Order");
  EXPECT_EQ(output.fields(1).user_type(), "shop.Order");
  EXPECT_EQ(output.fields(2).user_type(), "");
  EXPECT_THAT(t.Build().mistakes,
              ElementsAre("component 's': stream 'more': field 'd': TypeName of its serializer is "
                          "empty"));
}

TEST(TopologyBuilderTest, ConfigurationsAreCheckedWithTheRest) {
  TopologyBuilder t("t");
  t.Config("topology.contaners", 2).Config("topology.batch.max.bytes", 0).Config("mine", "free");
  t.AddSpout("s", [] { return Source(); }).Parallelism(0).Config("topology.containers", 2);
  EXPECT_THAT(t.Build().mistakes,
              ElementsAre(HasSubstr("spout 's': parallelism 0"),
                          HasSubstr("topology: unknown key \"topology.contaners\"; did you mean"),
                          HasSubstr("topology: topology.batch.max.bytes is \"0\"; it must be"),
                          HasSubstr("component 's': topology.containers holds for the whole")));
}

TEST(TopologyBuilderTest, FeedbackClosesALoop) {
  TopologyBuilder t("t");
  auto s = t.AddSpout("s", [] { return Source(); }).Declares<int>("n");
  auto a = t.AddBolt("a", [] { return Fixed(1); }).Declares<int>("n").Shuffle(s);
  auto b = t.AddBolt("b", [] { return Fixed(1); }).Declares<int>("n").Shuffle(a);
  a.Fields(Feedback(b), "n");
  EXPECT_THAT(t.Build().mistakes, IsEmpty());
  const proto::Component& definition = BuilderAccess::Definition(t).components(1);
  EXPECT_FALSE(definition.inputs(0).feedback());
  EXPECT_TRUE(definition.inputs(1).feedback());
}

class ToFirst : public CustomGrouping {
 public:
  explicit ToFirst(int n) : number(n) {}
  ToFirst(const ToFirst&) = delete;
  ToFirst& operator=(const ToFirst&) = delete;
  void Choose(std::span<const FieldView>, std::vector<int32_t>&) override {}
  int number;
};

TEST(TopologyBuilderTest, DescribesEveryGrouping) {
  TopologyBuilder t("t");
  auto s = t.AddSpout("s", [] { return Source(); })
               .Declares<std::string, int>("a", "b")
               .DeclaresStream<int>("other", "c");
  t.AddBolt("local", [] { return Fixed(1); }).LocalOrShuffle(s).None(s["other"]);
  t.AddBolt("partial", [] { return Fixed(1); }).PartialKey(s, "b", "a").Direct(s["other"]);
  t.AddBolt("custom", [] { return Fixed(1); })
      .Custom(s, [] { return ToFirst(1); })
      .Custom(s["other"], [] { return std::make_unique<ToFirst>(2); });
  EXPECT_THAT(t.Build().mistakes, IsEmpty());
  const proto::Topology& d = BuilderAccess::Definition(t);
  EXPECT_EQ(d.components(1).inputs(0).grouping(), proto::LOCAL_OR_SHUFFLE);
  EXPECT_EQ(d.components(1).inputs(1).grouping(), proto::NONE);
  EXPECT_EQ(d.components(2).inputs(0).grouping(), proto::PARTIAL_KEY);
  EXPECT_THAT(d.components(2).inputs(0).fields(), ElementsAre("b", "a"));
  EXPECT_EQ(d.components(2).inputs(1).grouping(), proto::DIRECT);
  EXPECT_EQ(d.components(3).inputs(0).grouping(), proto::CUSTOM);
  EXPECT_EQ(d.components(3).inputs(1).grouping(), proto::CUSTOM);
}

TEST(TopologyBuilderTest, CustomGroupingsAreMadeForTheirInput) {
  TopologyBuilder t("t");
  auto s =
      t.AddSpout("s", [] { return Source(); }).Declares<int>("a").DeclaresStream<int>("other", "c");
  t.AddBolt("one", [] { return Fixed(1); })
      .Custom(s, [] { return ToFirst(1); })
      .Custom(s["other"], [] { return std::make_unique<ToFirst>(2); });
  t.AddBolt("two", [] { return Fixed(1); })
      .Custom(s, [] { return std::unique_ptr<CustomGrouping>(); })
      .Shuffle(s["other"]);
  auto number = [&](const char* reader, const char* stream) {
    auto made = BuilderAccess::MakeGrouping(t, reader, "s", stream);
    return made == nullptr ? 0 : dynamic_cast<ToFirst&>(*made).number;
  };
  EXPECT_EQ(number("one", "default"), 1);
  EXPECT_EQ(number("one", "other"), 2);
  EXPECT_EQ(number("two", "default"), 0) << "its factory gives none";
  EXPECT_EQ(number("two", "other"), 0) << "not a custom grouping";
  EXPECT_EQ(BuilderAccess::MakeGrouping(t, "one", "x", "default"), nullptr);
  EXPECT_NE(BuilderAccess::MakeGrouping(t, "one", "s", "default"),
            BuilderAccess::MakeGrouping(t, "one", "s", "default"));
}

TEST(TopologyBuilderTest, MistakesOfGroupingsNameComponentAndStream) {
  TopologyBuilder t("t");
  auto s = t.AddSpout("s", [] { return Source(); }).Declares<int>("a");
  t.AddBolt("partial", [] { return Fixed(1); }).PartialKey(s, "b");
  t.AddBolt("direct", [] { return Fixed(1); }).Direct(s["errors"]);
  EXPECT_THAT(t.Build().mistakes,
              ElementsAre(AllOf(HasSubstr("'partial'"), HasSubstr("stream 'default'"),
                                HasSubstr("'s'"), HasSubstr("'b'")),
                          AllOf(HasSubstr("'direct'"), HasSubstr("stream 'errors'"))));
}

TEST(TopologyBuilderTest, TellsAllMistakesAtOnce) {
  TopologyBuilder t("word count");
  auto lines = t.AddSpout("lines", [] { return Source(); }).Parallelism(-3);
  auto split = t.AddBolt("split", [] { return Fixed(1); }).Parallelism(0).Shuffle(lines);
  t.AddBolt("split", [] { return Fixed(1); }).Fields(split["x"], "word");
  t.AddBolt("alone", [] { return Fixed(1); });
  std::vector<std::string> mistakes = t.Build().mistakes;
  EXPECT_FALSE(t.Build().ok());
  EXPECT_THAT(mistakes, Contains(HasSubstr("'word count'")));
  EXPECT_THAT(mistakes, Contains(AllOf(HasSubstr("'lines'"), HasSubstr("parallelism -3"))));
  EXPECT_THAT(mistakes, Contains(AllOf(HasSubstr("'split'"), HasSubstr("parallelism 0"))));
  EXPECT_THAT(mistakes, Contains(AllOf(HasSubstr("'split'"), HasSubstr("stream 'default'"),
                                       HasSubstr("'lines'"), HasSubstr("no stream"))));
  EXPECT_THAT(mistakes, Contains(AllOf(HasSubstr("'split'"), HasSubstr("another component"))));
  EXPECT_THAT(mistakes, Contains(HasSubstr("stream 'x'")));
  EXPECT_THAT(mistakes, Contains(AllOf(HasSubstr("'alone'"), HasSubstr("no input"))));
}

TEST(TopologyBuilderTest, DeclaringAStreamTwiceIsAMistake) {
  TopologyBuilder t("t");
  t.AddSpout("s", [] { return Source(); }).Declares<int>("a").Declares<int>("b");
  EXPECT_THAT(t.Build().mistakes,
              ElementsAre(AllOf(HasSubstr("'s'"), HasSubstr("'default'"), HasSubstr("twice"))));
}

TEST(TopologyBuilderTest, AnEmptyTopologyIsAMistake) {
  EXPECT_THAT(TopologyBuilder("t").Build().mistakes, ElementsAre(HasSubstr("empty")));
}

TEST(TopologyBuilderTest, FactoriesMakeAnObjectWithEachCall) {
  TopologyBuilder t("t");
  Fill(t);
  std::string path = "input.txt";
  t.AddSpout("more", [=] { return Source(path); });
  auto one = BuilderAccess::MakeSpout(t, "more"), two = BuilderAccess::MakeSpout(t, "more");
  ASSERT_NE(one, nullptr);
  EXPECT_NE(one, two);
  EXPECT_EQ(dynamic_cast<Source&>(*one).path, "input.txt");
  auto by_pointer = BuilderAccess::MakeBolt(t, "split");
  EXPECT_EQ(dynamic_cast<Fixed&>(*by_pointer).value, 1);
  auto by_value = BuilderAccess::MakeBolt(t, "count");
  EXPECT_EQ(dynamic_cast<Fixed&>(*by_value).value, 2);
  EXPECT_EQ(BuilderAccess::MakeBolt(t, "lines"), nullptr) << "a spout is no bolt";
  EXPECT_EQ(BuilderAccess::MakeSpout(t, "count"), nullptr);
  EXPECT_EQ(BuilderAccess::MakeSpout(t, "nobody"), nullptr);
}

TEST(TopologyBuilderTest, TwoRunsOfTheSameProgramDescribeTheSameBytes) {
  TopologyBuilder one("t"), two("t");
  Fill(one);
  Fill(two);
  EXPECT_EQ(model::SerializeDescribed(BuilderAccess::Definition(one)),
            model::SerializeDescribed(BuilderAccess::Definition(two)));
}

TEST(TaskFactsTest, TellsTheWholeTopologyAsPlanned) {
  TopologyBuilder t("t");
  auto source =
      t.AddSpout("s", [] { return Source(); }).Bounded().Declares<Order, Value>("order", "what");
  t.AddBolt("b", [] { return Fixed(1); }).Parallelism(2).Fields(source, "order");
  proto::PhysicalPlan plan;
  for (int32_t container : {1, 2}) {
    auto* planned = plan.add_containers();
    planned->set_container(container);
    auto* task = planned->add_tasks();
    task->set_task(4 - container);
    task->set_component("b");
    task->set_component_index(container - 1);
  }
  auto* task = plan.mutable_containers(1)->add_tasks();
  task->set_task(1);
  task->set_component("s");
  auto layout = model::TaskLayout::Make(BuilderAccess::Definition(t), plan.containers());
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  const TopologyInfo info = internal::InfoOf(**layout);
  EXPECT_EQ(info.containers, 2);
  ASSERT_EQ(info.components.size(), 2u);
  EXPECT_TRUE(info.components[0].spout);
  EXPECT_TRUE(info.components[0].bounded);
  EXPECT_EQ(info.components[0].tasks[0].container, 2);
  EXPECT_EQ(info.components[0].outputs[0].fields[0].type, "shop.Order");
  EXPECT_EQ(info.components[0].outputs[0].fields[1].type, "any");
  const ComponentInfo& b = info.components[1];
  EXPECT_FALSE(b.spout);
  ASSERT_EQ(b.tasks.size(), 2u);
  EXPECT_EQ(b.tasks[0].task, 3);
  EXPECT_EQ(b.tasks[1].task, 2);
  EXPECT_EQ(b.tasks[1].index, 1);
  EXPECT_EQ(b.tasks[1].container, 2);
  EXPECT_EQ(b.inputs[0].component, "s");
  EXPECT_EQ(b.inputs[0].grouping, "fields");
  EXPECT_THAT(b.inputs[0].fields, ElementsAre("order"));
}

TEST(TaskFactsTest, OverlaysTheComponentsConfiguration) {
  TopologyBuilder t("t");
  t.Config("a", "topology").Config("b", "topology");
  t.AddSpout("s", [] { return Source(); })
      .Parallelism(3)
      .Config("b", "component")
      .DeclaresStream<std::string, Value>("words", "word", "more");
  const proto::Topology& definition = BuilderAccess::Definition(t);
  internal::TaskFacts facts = internal::FactsOf(definition, definition.components(0));
  EXPECT_EQ(facts.component, "s");
  EXPECT_EQ(facts.parallelism, 3);
  EXPECT_EQ(facts.config.at("a"), "topology");
  EXPECT_EQ(facts.config.at("b"), "component");
  ASSERT_EQ(facts.outputs.size(), 1u);
  EXPECT_EQ(facts.outputs[0].stream, "words");
  EXPECT_THAT(facts.outputs[0].names, ElementsAre("word", "more"));
  EXPECT_THAT(facts.outputs[0].types,
              ElementsAre(internal::DeclaredType::kString, internal::DeclaredType::kAny));
  internal::TupleOrigin origin = internal::OriginOf(definition.components(0), 0, "reader");
  EXPECT_EQ(origin.component, "s");
  EXPECT_EQ(origin.stream, "words");
  EXPECT_EQ(origin.reader, "reader");
  EXPECT_THAT(origin.fields, ElementsAre("word", "more"));
}

}  // namespace
}  // namespace heron
