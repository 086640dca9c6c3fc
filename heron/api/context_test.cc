#include "heron/api/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "heron/api/errors.h"

namespace {
// Counts what the program asks of the heap, to show that the emit path asks nothing.
thread_local size_t heap_calls = 0;
}  // namespace

// Not inlined: gcc would see malloc without its new and warn.
// NOLINTNEXTLINE(misc-new-delete-overloads)
[[gnu::noinline]] void* operator new(size_t size) {
  ++heap_calls;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace heron {
namespace {

using internal::DeclaredType;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A point on the plane; "x,y" on the wire.
struct Point {
  int x = 0;
  int y = 0;
};

}  // namespace

template <>
struct Serializer<Point> {
  static std::string TypeName() { return "test.Point"; }
  static void Write(const Point& p, std::string& out) {
    if (p.x < 0) throw std::invalid_argument("left of the plane");
    out = std::to_string(p.x) + "," + std::to_string(p.y);
  }
  static Point Read(std::string_view) { return {}; }
};

namespace {

class FakeRuntime : public internal::TaskRuntime, public internal::Emitter {
 public:
  struct Target : internal::WakeTarget {
    void Wake() override { ++wakes; }
    int wakes = 0;
  };

  struct Calls : internal::CallTarget {
    bool Post(std::unique_ptr<internal::Call> call, bool wait) override {
      waits.push_back(wait);
      if (waiting == nullptr) waiting = std::move(call);
      return waiting != nullptr && call == nullptr;
    }
    std::unique_ptr<internal::Call> waiting;
    std::vector<bool> waits;
  };

  internal::Emitter& emitter() override { return *this; }
  const TopologyInfo& topology_info() override { return info; }
  void SetProgress(double fraction) override { progress = fraction; }
  std::shared_ptr<internal::WakeTarget> wake_target() override { return target; }
  std::shared_ptr<internal::CallTarget> call_target() override { return calls; }

  EmitResult Emit(uint32_t stream, std::span<const FieldView> values) override {
    ++emits;
    last_stream = stream;
    if (keep) {
      last.clear();
      for (const FieldView& value : values) last.emplace_back(value);
    }
    return answer;
  }
  EmitResult EmitTo(uint32_t stream, int32_t task, std::span<const FieldView> values) override {
    last_task = task;
    return Emit(stream, values);
  }
  void Refused(uint32_t stream, EmitResult why) override {
    last_stream = stream;
    refused.push_back(why);
  }

  bool keep = true;
  int emits = 0;
  uint32_t last_stream = 99;
  int32_t last_task = 0;
  Values last;
  std::vector<EmitResult> refused;
  EmitResult answer = EmitResult::kOk;
  double progress = -1;
  TopologyInfo info{.containers = 2,
                    .components = {{.name = "split", .tasks = {{5, 0, 1}}},
                                   {.name = "count",
                                    .tasks = {{9, 0, 1}, {8, 1, 2}, {7, 2, 1}},
                                    .inputs = {{"split", "default", "fields", {"word"}}}}}};
  std::shared_ptr<Target> target = std::make_shared<Target>();
  std::shared_ptr<Calls> calls = std::make_shared<Calls>();
};

internal::TaskFacts Facts() {
  internal::TaskFacts facts;
  facts.topology = "t";
  facts.component = "split";
  facts.task = 5;
  facts.index = 1;
  facts.parallelism = 3;
  facts.container = 2;
  facts.arguments = {"in", "out"};
  facts.config = {{"my.key", "7"}, {"my.text", "seven"}, {"my.flag", "true"}, {"my.rate", "0.5"}};
  facts.container_folder = "/somewhere/container-2";
  facts.working_folder = "/home/ada";
  facts.outputs = {
      {"default", {"word", "count"}, {DeclaredType::kString, DeclaredType::kInt64}},
      {"errors", {"what"}, {DeclaredType::kAny}},
      {"points",
       {"n", "p", "q"},
       {DeclaredType::kInt64, DeclaredType::kBytes, DeclaredType::kBytes},
       {"", "test.Point", "test.Point"}},
      {"mixed", {"l", "p"}, {DeclaredType::kList, DeclaredType::kBytes}, {"", "test.Point"}},
      {"others",
       {"n", "p", "q"},
       {DeclaredType::kInt64, DeclaredType::kBytes, DeclaredType::kBytes},
       {"", "test.Line", ""}},
      {"all",
       {"b", "d", "y", "l"},
       {DeclaredType::kBool, DeclaredType::kDouble, DeclaredType::kBytes, DeclaredType::kList}}};
  return facts;
}

class ContextTest : public ::testing::Test {
 protected:
  template <typename Do>
  std::string ErrorOf(Do what) {
    try {
      what();
    } catch (const TypeError& error) {
      return error.what();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  }
  FakeRuntime runtime_;
  SpoutContext context_{Facts(), runtime_};
};

TEST_F(ContextTest, TellsTheWholeTopology) {
  const TopologyInfo& info = context_.TopologyInfo();
  EXPECT_EQ(info.containers, 2);
  EXPECT_EQ(info.Find("count")->tasks[1].container, 2);
  EXPECT_EQ(info.Find("nobody"), nullptr);
  EXPECT_EQ(info.ComponentOf(7)->name, "count");
  EXPECT_EQ(info.ComponentOf(6), nullptr);
  ASSERT_EQ(info.ReadersOf("split", "default").size(), 1u);
  EXPECT_EQ(info.ReadersOf("split", "default")[0]->name, "count");
  EXPECT_TRUE(info.ReadersOf("split", "errors").empty());
}

TEST_F(ContextTest, OwnTypesTravelAsBytes) {
  auto out = context_.Output<int, Point, std::optional<Point>>(Stream("points"), "n", "p", "q");
  EXPECT_EQ(out.Emit(1, Point{3, 4}, std::nullopt), EmitResult::kOk);
  EXPECT_THAT(runtime_.last, ElementsAre(Value(1), Value(Bytes{"3,4"}), Value()));
  out.EmitTo(7, 2, Point{5, 6}, Point{7, 8});
  EXPECT_THAT(runtime_.last, ElementsAre(Value(2), Value(Bytes{"5,6"}), Value(Bytes{"7,8"})));
  EXPECT_EQ(runtime_.last_task, 7);
  const int emits = runtime_.emits;
  EXPECT_THROW(out.Emit(1, Point{-1, 0}, std::nullopt), std::invalid_argument);
  EXPECT_EQ(runtime_.emits, emits);
  out.Emit(3, Point{1, 2}, std::nullopt);
  EXPECT_THAT(runtime_.last, ElementsAre(Value(3), Value(Bytes{"1,2"}), Value()));
}

TEST_F(ContextTest, OwnTypesAndListsInOneTuple) {
  auto out = context_.Output<List, Point>(Stream("mixed"), "l", "p");
  out.Emit(List{1, "a"}, Point{3, 4});
  EXPECT_THAT(runtime_.last, ElementsAre(Value(List{1, "a"}), Value(Bytes{"3,4"})));
}

TEST_F(ContextTest, AnOutputOfAnotherOwnTypeIsRefusedWithBoth) {
  EXPECT_EQ(ErrorOf([&] { context_.Output<int, Point, Point>(Stream("others"), "n", "p", "q"); }),
            "component 'split', stream 'others': Output asks for (n: int64, p: test.Point, q: "
            "test.Point), the topology declares (n: int64, p: test.Line, q: bytes)");
  context_.Output<int, BytesView, Point>(Stream("others"), "n", "p", "q");  // raw bytes fit
}

TEST_F(ContextTest, FunctionsForTheTaskThreadNeedNotBeCopyable) {
  auto result = std::make_unique<int>(7);
  int seen = 0;
  EXPECT_TRUE(context_.RunInTask([&seen, r = std::move(result)] { seen = *r; }));
  EXPECT_EQ(seen, 0) << "not here";
  runtime_.calls->waiting->Run();
  EXPECT_EQ(seen, 7);
  EXPECT_FALSE(context_.TaskRunner().TryRun([] {})) << "no room";
  EXPECT_THAT(runtime_.calls->waits, ElementsAre(true, false));
}

TEST_F(ContextTest, TellsWhoTheTaskIs) {
  EXPECT_EQ(context_.topology(), "t");
  EXPECT_EQ(context_.component(), "split");
  EXPECT_EQ(context_.task(), 5);
  EXPECT_EQ(context_.index(), 1);
  EXPECT_EQ(context_.parallelism(), 3);
  EXPECT_EQ(context_.working_folder(), "/home/ada");
  EXPECT_EQ(context_.container(), 2);
  EXPECT_EQ(context_.Slice().index, 1);
  EXPECT_EQ(context_.Slice().count, 3);
  EXPECT_EQ(context_.container_folder(), "/somewhere/container-2");
  EXPECT_THAT(context_.arguments().values(), ElementsAre("in", "out"));
}

TEST_F(ContextTest, Configuration) {
  const Config& config = context_.Config();
  EXPECT_EQ(config.Get<int64_t>("my.key", 10), 7);
  EXPECT_EQ(config.Get<int64_t>("other", 10), 10);
  EXPECT_EQ(config.Get<std::string>("my.text"), "seven");
  EXPECT_TRUE(config.Get<bool>("my.flag", false));
  EXPECT_EQ(config.Get<double>("my.rate", 1.0), 0.5);
  EXPECT_THAT(ErrorOf([&] { config.Get<int64_t>("my.text", 1); }),
              AllOf(HasSubstr("'my.text'"), HasSubstr("'seven'"), HasSubstr("int64")));
  EXPECT_THAT(ErrorOf([&] { config.Get<bool>("my.key", true); }), HasSubstr("true or false"));
  EXPECT_THAT(ErrorOf([&] { config.Get<int64_t>("other"); }),
              AllOf(HasSubstr("'other'"), HasSubstr("missing")));
}

TEST_F(ContextTest, EmitsToTheDeclaredStream) {
  auto out = context_.Output<std::string_view, int64_t>("word", "count");
  std::string word = "the";
  EXPECT_EQ(out.Emit(word, 3), EmitResult::kOk);
  EXPECT_EQ(runtime_.last_stream, 0u);
  EXPECT_THAT(runtime_.last, ElementsAre(Value("the"), Value(3)));
  out.Emit("literal", word.size());
  EXPECT_THAT(runtime_.last, ElementsAre(Value("literal"), Value(3)));

  auto errors = context_.Output<int64_t>(Stream("errors"), "what");
  errors.Emit(4);
  EXPECT_EQ(runtime_.last_stream, 1u);
  runtime_.answer = EmitResult::kTooLarge;
  EXPECT_EQ(errors.Emit(4), EmitResult::kTooLarge);
}

TEST_F(ContextTest, EmitToNamesTheTask) {
  auto out = context_.Output<std::string_view, int64_t>("word", "count");
  EXPECT_EQ(out.EmitTo(8, "the", 3), EmitResult::kOk);
  EXPECT_EQ(runtime_.last_task, 8);
  EXPECT_EQ(runtime_.last_stream, 0u);
  EXPECT_THAT(runtime_.last, ElementsAre(Value("the"), Value(3)));
  auto any = context_.Output<Value>(Stream("errors"), "what");
  any.EmitTo(7, List{"x"});
  EXPECT_EQ(runtime_.last_task, 7);
  EXPECT_EQ(runtime_.last_stream, 1u);
  EXPECT_THAT(runtime_.last, ElementsAre(Value(List{"x"})));
  runtime_.answer = EmitResult::kNotATask;
  EXPECT_EQ(any.EmitTo(1, 2), EmitResult::kNotATask);

  FieldsOutput fields = context_.OutputFields();
  EXPECT_EQ(fields.EmitTo(9, Values{"a", 1}), EmitResult::kNotATask);
  EXPECT_EQ(runtime_.last_task, 9);
  EXPECT_EQ(fields.EmitTo(6, Values{1, 1}), EmitResult::kWrongValues);
  EXPECT_EQ(runtime_.last_task, 9) << "nothing wrong reaches the engine";
  runtime_.last_task = 0;
  context_.Output<std::string_view, int64_t>("word", "count").Emit("w", 1);
  EXPECT_EQ(runtime_.last_task, 0);
  EXPECT_EQ((Output<int64_t>().EmitTo(1, 1)), EmitResult::kUnknownStream);
  EXPECT_EQ(FieldsOutput().EmitTo(1, Values{1}), EmitResult::kUnknownStream);
}

TEST_F(ContextTest, TasksOfAComponentAreKnownByName) {
  EXPECT_THAT(context_.TasksOf("count"), ElementsAre(9, 8, 7));
  try {
    context_.TasksOf("cuont");
    FAIL();
  } catch (const std::out_of_range& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'split'"), HasSubstr("'cuont'")));
  }
}

TEST_F(ContextTest, EveryTypeCanBeEmitted) {
  auto out = context_.Output<bool, double, Bytes, List>(Stream("all"), "b", "d", "y", "l");
  out.Emit(true, 0.5, Bytes{"raw"}, List{1, List{"x"}});
  EXPECT_THAT(runtime_.last,
              ElementsAre(Value(true), Value(0.5), Value(Bytes{"raw"}), Value(List{1, List{"x"}})));

  auto optional =
      context_.Output<std::optional<std::string>, std::optional<int64_t>>("word", "count");
  optional.Emit(std::nullopt, 4);
  EXPECT_THAT(runtime_.last, ElementsAre(Value(), Value(4)));
  optional.Emit("w", std::nullopt);
  EXPECT_THAT(runtime_.last, ElementsAre(Value("w"), Value()));

  auto nothing = context_.Output<std::nullptr_t, int32_t>(Stream("default"), "word", "count");
  (void)nothing;
  auto any = context_.Output<Value>(Stream("errors"), "what");
  any.Emit("text");
  EXPECT_THAT(runtime_.last, ElementsAre(Value("text")));
  any.Emit(List{});
  EXPECT_THAT(runtime_.last, ElementsAre(Value(List{})));
}

TEST_F(ContextTest, ATypedEmitAsksNothingOfTheHeap) {
  auto out = context_.Output<std::string_view, int64_t>("word", "count");
  runtime_.keep = false;
  std::string word(1000, 'w');
  size_t before = heap_calls;
  for (int i = 0; i < 100; ++i) out.Emit(word, i);
  for (int i = 0; i < 100; ++i) out.EmitTo(i, word, i);
  EXPECT_EQ(heap_calls, before);
  EXPECT_EQ(runtime_.emits, 200);
}

TEST_F(ContextTest, AnOutputThatDiffersFromItsDeclarationShowsBothSides) {
  EXPECT_EQ(ErrorOf([&] { context_.Output<int64_t, int64_t>("word", "count"); }),
            "component 'split', stream 'default': Output asks for (word: int64, count: int64), the "
            "topology declares (word: string, count: int64)");
  EXPECT_THAT(ErrorOf([&] { context_.Output<std::string, int64_t>("wrd", "count"); }),
              AllOf(HasSubstr("(wrd: string"), HasSubstr("(word: string")));
  EXPECT_THAT(ErrorOf([&] { context_.Output<std::string>("word"); }),
              HasSubstr("(word: string), "));
  EXPECT_THAT(ErrorOf([&] { context_.Output<Bytes, int64_t>("word", "count"); }),
              HasSubstr("word: bytes"));
  EXPECT_THAT(
      ErrorOf([&] { context_.Output<int64_t>(Stream("erors"), "what"); }),
      AllOf(HasSubstr("'split'"), HasSubstr("'erors'"), HasSubstr("'default', 'errors', ")));
}

TEST_F(ContextTest, AnOutputThatWasNeverMadeEmitsNowhere) {
  Output<int64_t> out;
  EXPECT_EQ(out.Emit(1), EmitResult::kUnknownStream);
  EXPECT_EQ(FieldsOutput().Emit(Values{1}), EmitResult::kUnknownStream);
}

TEST_F(ContextTest, GenericOutputsCheckTheirValues) {
  FieldsOutput out = context_.OutputFields();
  EXPECT_EQ(out.Emit(Values{"the", 3}), EmitResult::kOk);
  EXPECT_THAT(runtime_.last, ElementsAre(Value("the"), Value(3)));
  EXPECT_EQ(out.Emit(Values{nullptr, nullptr}), EmitResult::kOk) << "every field may be null";
  FieldView views[] = {FieldView::String("a"), FieldView::Int64(1)};
  EXPECT_EQ(out.EmitFields(views), EmitResult::kOk);
  EXPECT_EQ(runtime_.emits, 3);

  EXPECT_EQ(out.Emit(Values{"the"}), EmitResult::kWrongValues);
  EXPECT_EQ(out.Emit(Values{"the", 3, 4}), EmitResult::kWrongValues);
  EXPECT_EQ(out.Emit(Values{"the", "3"}), EmitResult::kWrongValues);
  EXPECT_EQ(out.Emit(Values{Bytes{"the"}, 3}), EmitResult::kWrongValues);
  EXPECT_EQ(runtime_.emits, 3) << "nothing wrong reaches the engine";
  EXPECT_EQ(runtime_.refused.size(), 4u);
  EXPECT_EQ(context_.OutputFields("errors").Emit(Values(1, List{})), EmitResult::kOk);
  EXPECT_THAT(ErrorOf([&] { context_.OutputFields("x"); }), HasSubstr("'x'"));
}

TEST_F(ContextTest, ProgressStaysWithinZeroAndOne) {
  for (auto [said, shown] : {std::pair(0.5, 0.5), std::pair(-1.0, 0.0), std::pair(7.0, 1.0),
                             std::pair(std::nan(""), 0.0)}) {
    context_.Progress(said);
    EXPECT_EQ(runtime_.progress, shown);
  }
}

TEST_F(ContextTest, AWakerWakes) {
  Waker waker = context_.Waker();
  Waker copy = waker;
  copy.Wake();
  waker();
  EXPECT_EQ(runtime_.target->wakes, 2);
}

TEST(ArgsTest, AreWhatStandsAfterTheTwoDashes) {
  const char* argv[] = {"program", "--heron-instance", "--", "a b", "", "--", "--heron-x", "\xff"};
  Args args(8, argv);
  EXPECT_THAT(args.values(), ElementsAre("a b", "", "--", "--heron-x", "\xff"));
  EXPECT_EQ(args[0], "a b");
  EXPECT_EQ(args.Get(1, "x"), "");
  EXPECT_EQ(args.Get(5, "x"), "x");
  try {
    args[5];
    FAIL();
  } catch (const Unrecoverable& error) {
    EXPECT_STREQ(error.what(), "argument 6 after -- is missing; there are 5");
  }
  EXPECT_TRUE(Args(2, argv).empty());
  EXPECT_TRUE(Args(3, argv).empty());
  EXPECT_TRUE(Args(0, nullptr).empty());
}

}  // namespace
}  // namespace heron
