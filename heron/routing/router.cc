#include "heron/routing/router.h"

#include <algorithm>

#include "heron/model/names.h"
#include "heron/model/topology_check.h"
#include "heron/routing/key_groups.h"
#include "heron/routing/key_hash.h"

namespace heron::routing {

namespace {

// Tasks of the component in order of their index, by which key groups have owners.
std::vector<TaskId> TasksByIndex(const model::TaskLayout& layout, int component) {
  std::vector<TaskId> tasks = layout.TasksOf(component);
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return layout.Find(a)->component_index < layout.Find(b)->component_index;
  });
  return tasks;
}

int StreamIndex(const proto::Component& source, const std::string& stream) {
  for (int i = 0; i < source.outputs_size(); ++i) {
    if (source.outputs(i).name() == stream) return i;
  }
  return -1;
}

Result<std::vector<uint32_t>> FieldIndices(const proto::OutputStream& stream,
                                           const proto::InputStream& input) {
  std::vector<uint32_t> indices;
  for (const std::string& name : input.fields()) {
    int index = 0;
    while (index < stream.fields_size() && stream.fields(index).name() != name) ++index;
    if (index == stream.fields_size()) {
      return InvalidArgument("grouping field " + model::Quoted(name) + " is not declared");
    }
    indices.push_back(static_cast<uint32_t>(index));
  }
  if (indices.empty()) return InvalidArgument("fields grouping needs at least one field");
  return indices;
}

// A well mixed number for the k-th shuffle of a source.
uint64_t Mixed(uint64_t seed, uint64_t k) {
  uint64_t x = seed + (k + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Status StreamRouter::Fill(const proto::OutputStream& stream, const proto::InputStream& input,
                          const proto::Component& reader, const KeyGroups& key_groups,
                          Subscriber& subscriber) {
  switch (input.grouping()) {
    case proto::SHUFFLE:
      subscriber.kind = Kind::kShuffle;
      return Status::Ok();
    case proto::ALL:
      subscriber.kind = Kind::kAll;
      return Status::Ok();
    case proto::GLOBAL:
      subscriber.kind = Kind::kGlobal;
      subscriber.tasks = {*std::min_element(subscriber.tasks.begin(), subscriber.tasks.end())};
      return Status::Ok();
    case proto::FIELDS:
      break;
    default:
      return InvalidArgument(model::GroupingName(input.grouping()) +
                             " grouping is not supported by this version");
  }
  subscriber.kind = Kind::kFields;
  Result<std::vector<uint32_t>> fields = FieldIndices(stream, input);
  if (!fields.ok()) return fields.status();
  subscriber.fields = *fields;
  auto groups = key_groups.find(reader.name());
  subscriber.key_groups =
      groups != key_groups.end() ? groups->second : DefaultKeyGroups(reader.parallelism());
  if (subscriber.key_groups < 1 || subscriber.key_groups > kMaxKeyGroups) {
    return InvalidArgument(std::to_string(subscriber.key_groups) +
                           " key groups; there must be 1 to " + std::to_string(kMaxKeyGroups));
  }
  return Status::Ok();
}

Result<std::unique_ptr<StreamRouter>> StreamRouter::Make(const Options& options,
                                                         const KeyGroups& key_groups) {
  const model::TaskLayout& layout = *options.layout;
  const proto::Topology& topology = layout.topology();
  if (options.source_component < 0 || options.source_component >= topology.components_size()) {
    return InvalidArgument("the topology has no component number " +
                           std::to_string(options.source_component));
  }
  const proto::Component& source = topology.components(options.source_component);
  std::unique_ptr<StreamRouter> router(new StreamRouter());
  router->streams_.resize(static_cast<size_t>(source.outputs_size()));
  uint64_t shuffles = 0;
  for (int c = 0; c < topology.components_size(); ++c) {
    const proto::Component& reader = topology.components(c);
    for (const proto::InputStream& input : reader.inputs()) {
      if (input.component() != source.name()) continue;
      std::string where = "component " + model::Quoted(reader.name()) + " reading stream " +
                          model::Quoted(input.stream()) + " of component " +
                          model::Quoted(source.name());
      int stream = StreamIndex(source, input.stream());
      if (stream < 0) return InvalidArgument(where + ": no such stream");
      Subscriber subscriber;
      subscriber.tasks = TasksByIndex(layout, c);
      if (subscriber.tasks.empty()) return InvalidArgument(where + ": it has no tasks");
      Status filled = Fill(source.outputs(stream), input, reader, key_groups, subscriber);
      if (!filled.ok()) return filled.WithContext(where);
      if (subscriber.kind == Kind::kShuffle) {
        subscriber.next = Mixed(options.seed, shuffles++) % subscriber.tasks.size();
      }
      Stream& out = router->streams_[static_cast<size_t>(stream)];
      for (uint32_t field : subscriber.fields) {
        out.fields_needed = std::max<size_t>(out.fields_needed, field + 1);
      }
      // End-of-stream goes to all tasks of a subscriber, whatever the grouping.
      const std::vector<TaskId>& all = layout.TasksOf(c);
      router->destinations_.insert(router->destinations_.end(), all.begin(), all.end());
      out.subscribers.push_back(std::move(subscriber));
    }
  }
  std::vector<TaskId>& d = router->destinations_;
  std::sort(d.begin(), d.end());
  d.erase(std::unique(d.begin(), d.end()), d.end());
  return router;
}

RouteResult StreamRouter::Route(uint32_t stream, std::span<const model::FieldView> values,
                                std::vector<TaskId>& tasks) {
  if (stream >= streams_.size()) return RouteResult::kUnknownStream;
  Stream& out = streams_[stream];
  if (values.size() < out.fields_needed) return RouteResult::kShortTuple;
  for (Subscriber& subscriber : out.subscribers) {
    switch (subscriber.kind) {
      case Kind::kShuffle:
        tasks.push_back(subscriber.tasks[subscriber.next]);
        if (++subscriber.next == subscriber.tasks.size()) subscriber.next = 0;
        break;
      case Kind::kFields: {
        uint32_t group = KeyGroupOf(HashKey(values, subscriber.fields), subscriber.key_groups);
        uint32_t count = static_cast<uint32_t>(subscriber.tasks.size());
        tasks.push_back(subscriber.tasks[OwnerOf(group, subscriber.key_groups, count)]);
        break;
      }
      case Kind::kAll:
        tasks.insert(tasks.end(), subscriber.tasks.begin(), subscriber.tasks.end());
        break;
      case Kind::kGlobal:
        tasks.push_back(subscriber.tasks[0]);
        break;
    }
  }
  return RouteResult::kOk;
}

}  // namespace heron::routing
