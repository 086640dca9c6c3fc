// The one place that says which tasks get a tuple. One router per emitting task; used by instances,
// tests and tracing tools alike. Thread: one, the emitting task's.
//
// A topology that CheckTopology accepts, and a layout made from it, always give a router.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "google/protobuf/map.h"
#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "heron/model/field_view.h"
#include "heron/model/task_layout.h"
#include "proto/topology.pb.h"

namespace heron::routing {

enum class RouteResult {
  kOk,
  kShortTuple,     // a grouping field is beyond the values; nobody gets it
  kUnknownStream,  // no such stream; nobody gets it
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

  // `key_groups`: SubmittedTopology.key_groups; a component that is missing there has the default
  // for its parallelism. InvalidArgument for a grouping that is not supported or a field that does
  // not exist, naming both components.
  static Result<std::unique_ptr<StreamRouter>> Make(const Options& options,
                                                    const KeyGroups& key_groups);

  // Appends the tasks that get a tuple with these values in this stream (an index in the source's
  // outputs), a task once per subscription. With anything but kOk nothing is appended.
  RouteResult Route(uint32_t stream, std::span<const model::FieldView> values,
                    std::vector<TaskId>& tasks);

  size_t stream_count() const { return streams_.size(); }
  // Every task that can get tuples of any stream, sorted, each once: where end-of-stream goes.
  const std::vector<TaskId>& Destinations() const { return destinations_; }

 private:
  enum class Kind { kShuffle, kFields, kAll, kGlobal };
  struct Subscriber {
    Kind kind = Kind::kShuffle;
    std::vector<TaskId> tasks;     // by component index; kGlobal: the lowest id alone
    size_t next = 0;               // kShuffle
    std::vector<uint32_t> fields;  // kFields: indices in the stream's fields
    uint32_t key_groups = 0;       // kFields
  };
  struct Stream {
    std::vector<Subscriber> subscribers;
    size_t fields_needed = 0;  // by groupings
  };

  StreamRouter() = default;
  // Kind, fields and key groups of `subscriber`, whose tasks are there, from its grouping.
  static Status Fill(const proto::OutputStream& stream, const proto::InputStream& input,
                     const proto::Component& reader, const KeyGroups& key_groups,
                     Subscriber& subscriber);

  std::vector<Stream> streams_;
  std::vector<TaskId> destinations_;
};

}  // namespace heron::routing
