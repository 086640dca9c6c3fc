// Builds a topology: components, their output streams, and who reads which stream by which
// grouping.
//
//   heron::TopologyBuilder t("word-count");
//   auto lines = t.AddSpout("lines", [=] { return Lines(path); })
//                    .Bounded().Declares<std::string>("line");
//   t.AddBolt("print", [] { return Print(); }).Parallelism(4).Shuffle(lines);
//   return heron::Main(argc, argv, t);
//
// Nothing throws and nothing is checked one by one: Build (and Main) tells all mistakes at once.
// component_handle.h has what can be said of a spout or a bolt. Thread: one.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heron/api/component.h"
#include "heron/api/component_handle.h"
#include "heron/api/internal/factory.h"

namespace heron {

namespace internal {
class BuilderAccess;
}  // namespace internal

// Every mistake, each naming component and stream; none: the topology can be submitted.
struct BuildResult {
  std::vector<std::string> mistakes;
  bool ok() const { return mistakes.empty(); }
};

class TopologyBuilder {
 public:
  explicit TopologyBuilder(std::string name);
  ~TopologyBuilder();
  TopologyBuilder(const TopologyBuilder&) = delete;
  TopologyBuilder& operator=(const TopologyBuilder&) = delete;

  // `factory` is called once in each task's process. What it captures must come from the program's
  // arguments only.
  template <std::invocable Factory>
  SpoutHandle AddSpout(std::string name, Factory factory) {
    return SpoutHandle(this,
                       AddSpoutOf(std::move(name), internal::Wrap<Spout>(std::move(factory))));
  }
  template <std::invocable Factory>
  BoltHandle AddBolt(std::string name, Factory factory) {
    return BoltHandle(this, AddBoltOf(std::move(name), internal::Wrap<Bolt>(std::move(factory))));
  }

  // Of the whole topology; a component's own value wins in its tasks.
  TopologyBuilder& Config(std::string key, std::string value);
  template <typename T>
  requires std::is_arithmetic_v<T> TopologyBuilder& Config(std::string key, T value) {
    using Wide = std::conditional_t<std::is_same_v<T, bool>, bool,
                                    std::conditional_t<std::is_integral_v<T>, int64_t, double>>;
    return Config(std::move(key), internal::ConfigText(static_cast<Wide>(value)));
  }

  const std::string& name() const;
  BuildResult Build() const;

 private:
  friend class ComponentHandle;
  friend class internal::BuilderAccess;
  size_t AddSpoutOf(std::string name, internal::SpoutFactory factory);
  size_t AddBoltOf(std::string name, internal::BoltFactory factory);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heron
