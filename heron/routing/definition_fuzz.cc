// Any bytes as a topology's definition, as submit reads them from a user's program: parsed,
// checked; and if it is right, hashed, laid out and routed, which must then work.
#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heron/model/described.h"
#include "heron/model/task_layout.h"
#include "heron/model/topology_check.h"
#include "heron/routing/router.h"
#include "proto/plan.pb.h"
#include "proto/topology.pb.h"

namespace {

constexpr int64_t kMostTasks = 300;  // to be laid out here

heron::proto::PackingPlan PlanOf(const heron::proto::Topology& topology) {
  heron::proto::PackingPlan plan;
  heron::proto::PlannedContainer* container = plan.add_containers();
  container->set_container(1);
  int32_t id = 0;
  for (const heron::proto::Component& component : topology.components()) {
    for (uint32_t i = 0; i < component.parallelism(); ++i) {
      heron::proto::PlannedTask* task = container->add_tasks();
      task->set_task(++id);
      task->set_component(component.name());
      task->set_component_index(static_cast<int32_t>(i));
    }
  }
  return plan;
}

void RouteAll(const std::shared_ptr<const heron::model::TaskLayout>& layout) {
  const heron::proto::Topology& topology = layout->topology();
  for (int c = 0; c < topology.components_size(); ++c) {
    auto router = heron::routing::StreamRouter::Make({layout, c, 1, 7}, {});
    CHECK(router.ok()) << router.status().ToString();
    for (int s = 0; s < topology.components(c).outputs_size(); ++s) {
      std::vector<heron::model::FieldView> values(
          static_cast<size_t>(topology.components(c).outputs(s).fields_size()));
      std::vector<heron::TaskId> tasks;
      CHECK((*router)->Route(static_cast<uint32_t>(s), values, tasks) ==
            heron::routing::RouteResult::kOk);
      // Whatever the grouping, a tuple goes where the end of the stream goes.
      const std::vector<heron::TaskId>& ends = (*router)->Destinations();
      for (heron::TaskId task = 0; task < 3; ++task) {
        (void)(*router)->RouteTo(static_cast<uint32_t>(s), task, tasks);
      }
      for (heron::TaskId task : tasks) {
        CHECK(layout->Find(task) != nullptr);
        CHECK(std::binary_search(ends.begin(), ends.end(), task));
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heron::proto::Topology topology;
  if (!topology.ParseFromArray(data, static_cast<int>(size))) return 0;
  if (!heron::model::CheckTopology(topology).empty()) return 0;
  heron::proto::Topology again;
  CHECK(again.ParseFromString(heron::model::SerializeDescribed(topology)));
  CHECK(heron::model::DescribedSha256(again) == heron::model::DescribedSha256(topology));
  int64_t tasks = 0;
  for (const heron::proto::Component& component : topology.components()) {
    tasks += component.parallelism();
  }
  if (tasks > kMostTasks) return 0;
  auto layout = heron::model::TaskLayout::Make(topology, PlanOf(topology).containers());
  CHECK(layout.ok()) << layout.status().ToString();
  RouteAll(*layout);
  return 0;
}
