// The one place that says which tasks get a tuple. One router per emitting task; used by instances,
// tests and tracing tools alike. Thread: one, the emitting task's (Make: any, before).
//
// A topology that CheckTopology accepts, and a layout made from it, always give a router.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "google/protobuf/map.h"
#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "heron/model/field_view.h"
#include "heron/model/task_layout.h"
#include "heron/routing/custom_grouping.h"
#include "proto/topology.pb.h"

namespace heron::routing {

enum class RouteResult {
  kOk,
  kShortTuple,     // a grouping field is beyond the values; nobody gets it
  kUnknownStream,  // no such stream; nobody gets it
  kNotATask,       // RouteTo a task that does not subscribe directly; nobody gets it
  // Custom groupings named tasks that are not of their subscriber, refused() in number; the others
  // get it.
  kPartlyRefused,
};

class StreamRouter {
 public:
  struct Options {
    std::shared_ptr<const model::TaskLayout> layout;
    int source_component = 0;   // index in the topology
    ContainerId container = 0;  // of the emitting task
    // Where shuffles start, so that the tasks of a component do not all begin with the same one.
    uint64_t seed = 0;
  };
  using KeyGroups = google::protobuf::Map<std::string, uint32_t>;
  // The grouping object for the component `reader` reading the source's stream; user code, which
  // may throw.
  using MakeGrouping = std::function<std::unique_ptr<CustomGrouping>(const std::string& reader,
                                                                     const std::string& stream)>;

  // `key_groups`: SubmittedTopology.key_groups; a component that is missing there has the default
  // for its parallelism. InvalidArgument for a grouping that is not supported or a field that does
  // not exist, naming both components.
  static Result<std::unique_ptr<StreamRouter>> Make(const Options& options,
                                                    const KeyGroups& key_groups);

  // Makes and prepares the custom groupings; without it their subscribers get nothing.
  // InvalidArgument if `make` gives none for one of them, naming both components.
  Status PrepareGroupings(const MakeGrouping& make);
  void DropGroupings();  // destroys them

  // Appends the tasks that get a tuple with these values in this stream (an index in the source's
  // outputs), a task once per subscription (custom groupings: as often as they name it). Direct
  // subscribers get nothing. With anything but kOk and kPartlyRefused nothing is appended. Throws
  // what a custom grouping throws; forget `tasks` then.
  RouteResult Route(uint32_t stream, std::span<const model::FieldView> values,
                    std::vector<TaskId>& tasks);
  // Appends `task` if it is of a component that reads the stream by direct grouping; the stream's
  // other subscribers get nothing.
  RouteResult RouteTo(uint32_t stream, TaskId task, std::vector<TaskId>& tasks) const;
  // With kPartlyRefused: how many of that tuple.
  size_t refused() const { return refused_; }

  size_t stream_count() const { return streams_.size(); }
  // Every task that can get tuples of any stream, sorted, each once: where end-of-stream goes.
  const std::vector<TaskId>& Destinations() const { return destinations_; }

 private:
  enum class Kind { kShuffle, kFields, kPartialKey, kAll, kGlobal, kCustom };
  struct Subscriber {
    Kind kind = Kind::kShuffle;
    std::string component;
    // By component index; local-or-shuffle: those of the container, if any; kGlobal: the lowest
    // id alone; kCustom: sorted.
    std::vector<TaskId> tasks;
    size_t next = 0;                           // kShuffle
    std::vector<uint32_t> fields;              // kFields, kPartialKey: indices in the stream's
    uint32_t key_groups = 0;                   // kFields
    std::vector<uint64_t> sent;                // kPartialKey: tuples, by component index
    CustomGroupingContext context;             // kCustom
    std::unique_ptr<CustomGrouping> grouping;  // kCustom, once prepared
  };
  struct Stream {
    std::vector<Subscriber> subscribers;  // without the direct ones
    std::vector<TaskId> direct;           // tasks of direct subscribers, sorted
    size_t fields_needed = 0;             // by groupings
  };

  StreamRouter() = default;
  Status AddInput(const Options& options, int reader, const proto::InputStream& input,
                  const KeyGroups& key_groups);
  // Kind, fields and key groups of `subscriber`, whose tasks are there, from its grouping.
  static Status Fill(const Options& options, const proto::OutputStream& stream,
                     const proto::InputStream& input, const KeyGroups& key_groups,
                     Subscriber& subscriber);
  static TaskId LessLoaded(Subscriber& subscriber, std::span<const model::FieldView> values);
  void RouteCustom(Subscriber& subscriber, std::span<const model::FieldView> values,
                   std::vector<TaskId>& tasks);

  std::vector<Stream> streams_;
  std::vector<TaskId> destinations_;
  uint64_t shuffles_ = 0;       // made so far
  std::vector<TaskId> chosen_;  // by the custom grouping at hand
  size_t refused_ = 0;
};

}  // namespace heron::routing
