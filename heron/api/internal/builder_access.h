// The engine's view of a TopologyBuilder: the definition as a message, and the component registry
// (factories by name).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heron/api/topology_builder.h"
#include "proto/topology.pb.h"

namespace heron::internal {

class BuilderAccess {
 public:
  // As built, right or wrong.
  static const proto::Topology& Definition(const TopologyBuilder& builder);
  static std::vector<std::string> Mistakes(const TopologyBuilder& builder);

  // Calls the component's factory, which may throw anything. nullptr if there is no such spout or
  // bolt, or the factory returned nullptr. Any thread; one factory runs at a time, as users may
  // expect who know one task per process.
  static std::unique_ptr<Spout> MakeSpout(const TopologyBuilder& builder, const std::string& name);
  static std::unique_ptr<Bolt> MakeBolt(const TopologyBuilder& builder, const std::string& name);
  // The same for the custom grouping by which `reader` reads a stream of `source`.
  static std::unique_ptr<CustomGrouping> MakeGrouping(const TopologyBuilder& builder,
                                                      const std::string& reader,
                                                      const std::string& source,
                                                      const std::string& stream);
};

}  // namespace heron::internal
