#include "heron/routing/router.h"

#include <algorithm>

#include "heron/model/names.h"
#include "heron/model/topology_check.h"
#include "heron/routing/key_groups.h"
#include "heron/routing/key_hash.h"
#include "heron/routing/partial_key.h"

namespace heron::routing {

namespace {

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
  if (indices.empty()) {
    return InvalidArgument(model::GroupingName(input.grouping()) +
                           " grouping needs at least one field");
  }
  return indices;
}

// A well mixed number for the k-th shuffle of a source.
uint64_t Mixed(uint64_t seed, uint64_t k) {
  uint64_t x = seed + (k + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::string Where(const std::string& reader, const std::string& stream, const std::string& source) {
  return "component " + model::Quoted(reader) + " reading stream " + model::Quoted(stream) +
         " of component " + model::Quoted(source);
}

}  // namespace

Status StreamRouter::Fill(const Options& options, const proto::OutputStream& stream,
                          const proto::InputStream& input, const KeyGroups& key_groups,
                          Subscriber& subscriber) {
  switch (input.grouping()) {
    case proto::LOCAL_OR_SHUFFLE: {
      std::vector<TaskId> local;
      for (TaskId task : subscriber.tasks) {
        if (options.layout->Find(task)->container == options.container) local.push_back(task);
      }
      if (!local.empty()) subscriber.tasks = std::move(local);
      return Status::Ok();
    }
    case proto::SHUFFLE:
    case proto::NONE:
      return Status::Ok();
    case proto::ALL:
      subscriber.kind = Kind::kAll;
      return Status::Ok();
    case proto::GLOBAL:
      subscriber.kind = Kind::kGlobal;
      subscriber.tasks = {*std::min_element(subscriber.tasks.begin(), subscriber.tasks.end())};
      return Status::Ok();
    case proto::CUSTOM:
      subscriber.kind = Kind::kCustom;
      subscriber.context = {stream.name(), input.component(), subscriber.tasks};
      std::sort(subscriber.tasks.begin(), subscriber.tasks.end());
      return Status::Ok();
    case proto::FIELDS:
      subscriber.kind = Kind::kFields;
      break;
    case proto::PARTIAL_KEY:
      subscriber.kind = Kind::kPartialKey;
      subscriber.sent.resize(subscriber.tasks.size());
      break;
    default:
      return InvalidArgument(model::GroupingName(input.grouping()) +
                             " grouping is not supported by this version");
  }
  Result<std::vector<uint32_t>> fields = FieldIndices(stream, input);
  if (!fields.ok()) return fields.status();
  subscriber.fields = *fields;
  if (subscriber.kind == Kind::kPartialKey) return Status::Ok();
  auto groups = key_groups.find(subscriber.component);
  subscriber.key_groups = groups != key_groups.end()
                              ? groups->second
                              : DefaultKeyGroups(static_cast<uint32_t>(subscriber.tasks.size()));
  if (subscriber.key_groups < 1 || subscriber.key_groups > kMaxKeyGroups) {
    return InvalidArgument(std::to_string(subscriber.key_groups) +
                           " key groups; there must be 1 to " + std::to_string(kMaxKeyGroups));
  }
  return Status::Ok();
}

Status StreamRouter::AddInput(const Options& options, int reader, const proto::InputStream& input,
                              const KeyGroups& key_groups) {
  const model::TaskLayout& layout = *options.layout;
  const proto::Component& source = layout.topology().components(options.source_component);
  int stream = StreamIndex(source, input.stream());
  if (stream < 0) return InvalidArgument("no such stream");
  Subscriber subscriber;
  subscriber.component = layout.topology().components(reader).name();
  subscriber.tasks = layout.TasksByIndex(reader);
  if (subscriber.tasks.empty()) return InvalidArgument("it has no tasks");
  // End-of-stream goes to all tasks of a subscriber, whatever the grouping.
  destinations_.insert(destinations_.end(), subscriber.tasks.begin(), subscriber.tasks.end());
  Stream& out = streams_[static_cast<size_t>(stream)];
  if (input.grouping() == proto::DIRECT) {
    out.direct.insert(out.direct.end(), subscriber.tasks.begin(), subscriber.tasks.end());
    std::sort(out.direct.begin(), out.direct.end());
    return Status::Ok();
  }
  Status filled = Fill(options, source.outputs(stream), input, key_groups, subscriber);
  if (!filled.ok()) return filled;
  if (subscriber.kind == Kind::kShuffle) {
    subscriber.next = Mixed(options.seed, shuffles_++) % subscriber.tasks.size();
  }
  for (uint32_t field : subscriber.fields) {
    out.fields_needed = std::max<size_t>(out.fields_needed, field + 1);
  }
  out.subscribers.push_back(std::move(subscriber));
  return Status::Ok();
}

Result<std::unique_ptr<StreamRouter>> StreamRouter::Make(const Options& options,
                                                         const KeyGroups& key_groups) {
  const proto::Topology& topology = options.layout->topology();
  if (options.source_component < 0 || options.source_component >= topology.components_size()) {
    return InvalidArgument("the topology has no component number " +
                           std::to_string(options.source_component));
  }
  const proto::Component& source = topology.components(options.source_component);
  std::unique_ptr<StreamRouter> router(new StreamRouter());
  router->streams_.resize(static_cast<size_t>(source.outputs_size()));
  for (int c = 0; c < topology.components_size(); ++c) {
    const proto::Component& reader = topology.components(c);
    for (const proto::InputStream& input : reader.inputs()) {
      if (input.component() != source.name()) continue;
      Status added = router->AddInput(options, c, input, key_groups);
      if (!added.ok())
        return added.WithContext(Where(reader.name(), input.stream(), source.name()));
    }
  }
  std::vector<TaskId>& d = router->destinations_;
  std::sort(d.begin(), d.end());
  d.erase(std::unique(d.begin(), d.end()), d.end());
  return router;
}

Status StreamRouter::PrepareGroupings(const MakeGrouping& make) {
  for (Stream& stream : streams_) {
    for (Subscriber& subscriber : stream.subscribers) {
      if (subscriber.kind != Kind::kCustom) continue;
      subscriber.grouping = make(subscriber.component, subscriber.context.stream);
      if (subscriber.grouping == nullptr) {
        return InvalidArgument("the factory of its custom grouping gave none")
            .WithContext(Where(subscriber.component, subscriber.context.stream,
                               subscriber.context.source_component));
      }
      subscriber.grouping->Prepare(subscriber.context);
    }
  }
  return Status::Ok();
}

void StreamRouter::DropGroupings() {
  for (Stream& stream : streams_) {
    for (Subscriber& subscriber : stream.subscribers) subscriber.grouping.reset();
  }
}

TaskId StreamRouter::LessLoaded(Subscriber& subscriber, std::span<const model::FieldView> values) {
  TwoTasks two = TasksOfKey(HashKey(values, subscriber.fields),
                            static_cast<uint32_t>(subscriber.tasks.size()));
  uint32_t task = subscriber.sent[two.second] < subscriber.sent[two.first] ? two.second : two.first;
  ++subscriber.sent[task];
  return subscriber.tasks[task];
}

void StreamRouter::RouteCustom(Subscriber& subscriber, std::span<const model::FieldView> values,
                               std::vector<TaskId>& tasks) {
  if (subscriber.grouping == nullptr) return;
  chosen_.clear();
  subscriber.grouping->Choose(values, chosen_);
  for (TaskId task : chosen_) {
    if (std::binary_search(subscriber.tasks.begin(), subscriber.tasks.end(), task)) {
      tasks.push_back(task);
    } else {
      ++refused_;
    }
  }
}

RouteResult StreamRouter::Route(uint32_t stream, std::span<const model::FieldView> values,
                                std::vector<TaskId>& tasks) {
  if (stream >= streams_.size()) return RouteResult::kUnknownStream;
  Stream& out = streams_[stream];
  if (values.size() < out.fields_needed) return RouteResult::kShortTuple;
  refused_ = 0;
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
      case Kind::kPartialKey:
        tasks.push_back(LessLoaded(subscriber, values));
        break;
      case Kind::kAll:
        tasks.insert(tasks.end(), subscriber.tasks.begin(), subscriber.tasks.end());
        break;
      case Kind::kGlobal:
        tasks.push_back(subscriber.tasks[0]);
        break;
      case Kind::kCustom:
        RouteCustom(subscriber, values, tasks);
        break;
    }
  }
  return refused_ == 0 ? RouteResult::kOk : RouteResult::kPartlyRefused;
}

RouteResult StreamRouter::RouteTo(uint32_t stream, TaskId task, std::vector<TaskId>& tasks) const {
  if (stream >= streams_.size()) return RouteResult::kUnknownStream;
  const std::vector<TaskId>& direct = streams_[stream].direct;
  if (!std::binary_search(direct.begin(), direct.end(), task)) return RouteResult::kNotATask;
  tasks.push_back(task);
  return RouteResult::kOk;
}

}  // namespace heron::routing
