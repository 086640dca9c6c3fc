#include "heron/model/topology_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "heron/base/nearest.h"
#include "heron/model/names.h"
#include "heron/model/tuple_codec.h"

namespace heron::model {

namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;  // of a key with its value
constexpr size_t kShownNames = 16;

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kShownNames; ++i) {
    text += (i == 0 ? "" : ", ") + Quoted(names[i]);
  }
  if (names.size() > kShownNames) {
    text += " and " + std::to_string(names.size() - kShownNames) + " more";
  }
  return text;
}

// Empty when none is near.
std::string DidYouMean(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return nearest.empty() ? "" : "; did you mean " + Quoted(nearest) + "?";
}

// One of the known ones, or all of them.
std::string Hint(const std::string& name, const std::vector<std::string>& known,
                 const std::string& what) {
  const std::string hint = DidYouMean(name, known);
  return hint.empty() ? "; the " + what + " are " + Listed(known) : hint;
}

// Gathers the mistakes of one definition.
class Checker {
 public:
  explicit Checker(const proto::Topology& topology) : topology_(topology) {}

  std::vector<std::string> Run() {
    CheckWhole();
    for (const proto::Component& component : topology_.components()) {
      // The first of a name.
      if (components_.emplace(component.name(), &component).second) {
        names_.push_back(component.name());
      }
    }
    std::set<std::string_view> seen;
    for (const proto::Component& component : topology_.components()) {
      CheckNameOf(component, !seen.insert(component.name()).second);
      CheckComponent(component);
      CheckOutputs(component);
      CheckInputs(component);
    }
    CheckCycles();
    return std::move(mistakes_);
  }

 private:
  void Say(std::string mistake) { mistakes_.push_back(std::move(mistake)); }
  void Say(const proto::Component& component, const std::string& mistake) {
    Say(Named(component) + ": " + mistake);
  }

  static std::string Named(const proto::Component& component) {
    const char* kind = component.kind() == proto::SPOUT  ? "spout "
                       : component.kind() == proto::BOLT ? "bolt "
                                                         : "component ";
    return kind + Quoted(component.name());
  }

  void CheckWhole();
  void CheckNameOf(const proto::Component& component, bool again);
  void CheckComponent(const proto::Component& component);
  void CheckTick(const proto::Component& component);
  void CheckConfig(const std::string& where,
                   const google::protobuf::Map<std::string, std::string>& config);
  void CheckOutputs(const proto::Component& component);
  void CheckUserType(const proto::Component& component, const std::string& where,
                     const proto::Field& field);
  void CheckInputs(const proto::Component& component);
  void CheckInput(const proto::Component& component, const proto::InputStream& input);
  void CheckGrouping(const proto::Component& component, const proto::InputStream& input,
                     const proto::OutputStream* from);
  void CheckFeedback(const proto::Component& component, const proto::InputStream& input);
  bool Feeds(const std::string& from, const std::string& to) const;
  void CheckCycles();
  bool FindCycle(const std::string& name, std::vector<std::string>& path);
  void SayCycle(const std::vector<std::string>& path, const std::string& again);

  const proto::Topology& topology_;
  std::vector<std::string> mistakes_;
  std::map<std::string, const proto::Component*> components_;
  std::vector<std::string> names_;     // of components, in their order
  std::map<std::string, int> colour_;  // 1: on the path, 2: done
};

void Checker::CheckWhole() {
  if (topology_.api_version() > kApiVersion) {
    Say("the topology was built with API version " + std::to_string(topology_.api_version()) +
        "; this engine knows versions up to " + std::to_string(kApiVersion));
  }
  if (!IsName(topology_.name())) {
    Say("topology name " + Quoted(topology_.name()) + ": a name has " + std::string(kNameRule));
  }
  CheckConfig("topology", topology_.config());
  if (topology_.components_size() == 0) {
    Say("the topology is empty: add at least one spout with AddSpout");
    return;
  }
  if (topology_.components_size() > kMaxComponents) {
    Say("the topology has " + std::to_string(topology_.components_size()) +
        " components; at most " + std::to_string(kMaxComponents) + " are allowed");
  }
  int64_t tasks = 0;
  bool has_spout = false;
  for (const proto::Component& component : topology_.components()) {
    tasks += component.parallelism();
    has_spout = has_spout || component.kind() == proto::SPOUT;
  }
  if (tasks > kMaxTasks) {
    Say("the topology has " + std::to_string(tasks) + " tasks; at most " +
        std::to_string(kMaxTasks) + " are allowed");
  }
  if (!has_spout)
    Say("the topology has no spout: nothing would ever arrive; add one with AddSpout");
}

void Checker::CheckNameOf(const proto::Component& component, bool again) {
  if (component.name().starts_with("__")) {
    Say(component, "names that begin with '__' are reserved for the engine");
  } else if (!IsName(component.name())) {
    Say(component, "a component's name has " + std::string(kNameRule));
  }
  if (again) {
    Say(component,
        "the name is used by another component too; give one of them another name, or call another "
        "grouping on the handle of the first to let it read one more stream");
  }
}

void Checker::CheckComponent(const proto::Component& component) {
  if (component.kind() != proto::SPOUT && component.kind() != proto::BOLT) {
    Say(component, "is neither a spout nor a bolt (kind " + std::to_string(component.kind()) + ")");
  }
  if (component.parallelism() < 1 || component.parallelism() > kMaxParallelism) {
    Say(component, "parallelism " + std::to_string(component.parallelism()) +
                       " is out of range; it must be 1 to " + std::to_string(kMaxParallelism));
  }
  if (component.kind() == proto::BOLT && component.bounded()) {
    Say(component, "only spouts can be bounded; a bolt ends when its inputs end");
  }
  CheckTick(component);
  CheckConfig(Named(component), component.config());
}

void Checker::CheckTick(const proto::Component& component) {
  if (!component.has_tick_interval_us()) return;
  if (component.kind() == proto::SPOUT) {
    Say(component, "only bolts get ticks; a spout returns Next::Idle(time)");
  }
  const int64_t us = component.tick_interval_us();
  if (us >= kMinTickUs && us <= kMaxTickUs) return;
  Say(component,
      "tick interval " +
          (us % 1000 == 0 ? std::to_string(us / 1000) + " ms" : std::to_string(us) + " us") +
          " is out of range; it must be 1 ms to 1 day");
}

void Checker::CheckConfig(const std::string& where,
                          const google::protobuf::Map<std::string, std::string>& config) {
  std::map<std::string, std::string> sorted(config.begin(), config.end());
  for (const auto& [key, value] : sorted) {
    if (key.empty()) Say(where + ": a configuration key is empty");
    if (!IsUtf8(key) || !IsUtf8(value)) {
      Say(where + ": configuration key " + Quoted(key) + ": key and value must be UTF-8");
    }
    if (key.size() + value.size() > kMaxConfigBytes) {
      Say(where + ": configuration key " + Quoted(key) + " and its value have " +
          std::to_string(key.size() + value.size()) + " bytes; at most " +
          std::to_string(kMaxConfigBytes) + " are allowed");
    }
  }
}

void Checker::CheckOutputs(const proto::Component& component) {
  if (component.outputs_size() > kMaxStreams) {
    Say(component, "declares " + std::to_string(component.outputs_size()) + " streams; at most " +
                       std::to_string(kMaxStreams) + " are allowed");
  }
  std::set<std::string_view> streams;
  for (const proto::OutputStream& output : component.outputs()) {
    std::string where = "stream " + Quoted(output.name()) + ": ";
    if (output.name().starts_with("__")) {
      Say(component, where + "names that begin with '__' are reserved for the engine");
    } else if (!IsName(output.name())) {
      Say(component, where + "a stream's name has " + std::string(kNameRule));
    }
    if (!streams.insert(output.name()).second) Say(component, where + "is declared twice");
    if (output.fields_size() > static_cast<int>(kMaxFields)) {
      Say(component, where + "has " + std::to_string(output.fields_size()) + " fields; at most " +
                         std::to_string(kMaxFields) + " are allowed");
    }
    std::set<std::string_view> fields;
    for (const proto::Field& field : output.fields()) {
      if (field.name().empty() || field.name().size() > kMaxNameBytes || !IsUtf8(field.name())) {
        Say(component, where + "field name " + Quoted(field.name()) +
                           ": a field's name has 1 to 128 bytes of UTF-8");
      }
      if (!fields.insert(field.name()).second) {
        Say(component, where + "field " + Quoted(field.name()) + " is declared twice");
      }
      if (!proto::ValueType_IsValid(field.type())) {
        Say(component, where + "field " + Quoted(field.name()) + " has the unknown type " +
                           std::to_string(field.type()));
      }
      CheckUserType(component, where, field);
    }
  }
}

void Checker::CheckUserType(const proto::Component& component, const std::string& where,
                            const proto::Field& field) {
  const std::string& name = field.user_type();
  if (name.empty()) return;
  if (name.size() > kMaxNameBytes || !IsUtf8(name)) {
    Say(component, where + "field " + Quoted(field.name()) + ": the type's name " + Quoted(name) +
                       " must have 1 to 128 bytes of UTF-8");
  }
  if (field.type() != proto::BYTES) {
    Say(component, where + "field " + Quoted(field.name()) + " of the type " + Quoted(name) +
                       " travels as bytes, but is declared otherwise");
  }
}

// Nobody can tell when a loop has ended until every tuple is acknowledged.
void Checker::CheckFeedback(const proto::Component& component, const proto::InputStream& input) {
  if (!input.feedback()) return;
  std::string where = "feedback from stream " + Quoted(input.stream()) + " of component " +
                      Quoted(input.component()) + ": ";
  if (!Feeds(component.name(), input.component())) {
    Say(component, where + "nothing that the bolt emits comes back by it; leave Feedback out");
    return;
  }
  const bool ends = std::all_of(
      topology_.components().begin(), topology_.components().end(),
      [](const proto::Component& c) { return c.kind() != proto::SPOUT || c.bounded(); });
  if (ends) {
    Say(component, where +
                       "every spout is bounded, but the end of a loop cannot be told in this "
                       "version; let one spout be without Bounded()");
  }
}

// Whether tuples of `from` can come to `to`, or it is the same.
bool Checker::Feeds(const std::string& from, const std::string& to) const {
  std::set<std::string> seen{to};
  std::vector<std::string> open{to};
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (name == from) return true;
    auto it = components_.find(name);
    if (it == components_.end()) continue;
    for (const proto::InputStream& input : it->second->inputs()) {
      if (!input.feedback() && seen.insert(input.component()).second) {
        open.push_back(input.component());
      }
    }
  }
  return false;
}

void Checker::CheckInputs(const proto::Component& component) {
  if (component.kind() == proto::SPOUT && component.inputs_size() > 0) {
    Say(component, "a spout cannot have inputs; make it a bolt");
    return;
  }
  if (component.kind() == proto::BOLT && component.inputs_size() == 0) {
    Say(component, "has no input; add one with Shuffle, Fields or another grouping");
  }
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const proto::InputStream& input : component.inputs()) {
    if (!seen.insert({input.component(), input.stream()}).second) {
      Say(component, "reads stream " + Quoted(input.stream()) + " of component " +
                         Quoted(input.component()) + " twice; one input of a stream is enough");
    }
    CheckInput(component, input);
    CheckFeedback(component, input);
  }
}

void Checker::CheckInput(const proto::Component& component, const proto::InputStream& input) {
  auto upstream = components_.find(input.component());
  if (upstream == components_.end()) {
    Say(component, "reads stream " + Quoted(input.stream()) + " of component " +
                       Quoted(input.component()) + ", which does not exist" +
                       Hint(input.component(), names_, "components"));
    CheckGrouping(component, input, nullptr);
    return;
  }
  const proto::OutputStream* from = nullptr;
  std::vector<std::string> known;
  for (const proto::OutputStream& output : upstream->second->outputs()) {
    if (output.name() == input.stream()) from = &output;
    known.push_back(output.name());
  }
  if (from == nullptr) {
    Say(component, "reads stream " + Quoted(input.stream()) + ", which component " +
                       Quoted(input.component()) + " does not declare; it declares " +
                       (known.empty() ? "no stream: add .Declares<...> or .DeclaresStream<...>"
                                      : Listed(known)) +
                       DidYouMean(input.stream(), known));
  }
  CheckGrouping(component, input, from);
}

void Checker::CheckGrouping(const proto::Component& component, const proto::InputStream& input,
                            const proto::OutputStream* from) {
  std::string where = "input from stream " + Quoted(input.stream()) + " of component " +
                      Quoted(input.component()) + ": ";
  switch (input.grouping()) {
    case proto::SHUFFLE:
    case proto::ALL:
    case proto::GLOBAL:
    case proto::LOCAL_OR_SHUFFLE:
    case proto::NONE:
    case proto::DIRECT:
    case proto::CUSTOM:
      if (input.fields_size() > 0) {
        Say(component, where + GroupingName(input.grouping()) + " grouping takes no fields");
      }
      return;
    case proto::FIELDS:
    case proto::PARTIAL_KEY:
      break;
    default:
      Say(component, where + GroupingName(input.grouping()) +
                         " grouping is not supported by this version; use shuffle, "
                         "local-or-shuffle, fields, partial-key, all, global, direct, custom or "
                         "none");
      return;
  }
  if (input.fields_size() == 0) {
    Say(component, where + GroupingName(input.grouping()) + " grouping needs at least one field");
  }
  std::set<std::string_view> seen;
  for (const std::string& field : input.fields()) {
    if (!seen.insert(field).second) {
      Say(component, where + "grouping field " + Quoted(field) + " is given twice");
      continue;
    }
    if (from == nullptr) continue;
    auto declared = std::find_if(from->fields().begin(), from->fields().end(),
                                 [&](const proto::Field& f) { return f.name() == field; });
    if (declared != from->fields().end()) continue;
    std::vector<std::string> known;
    for (const proto::Field& f : from->fields()) known.push_back(f.name());
    Say(component, where + "grouping field " + Quoted(field) +
                       " is not declared there; the fields are " +
                       (known.empty() ? "none" : Listed(known)) + DidYouMean(field, known));
  }
}

void Checker::CheckCycles() {
  for (const proto::Component& component : topology_.components()) {
    std::vector<std::string> path;
    if (FindCycle(component.name(), path)) return;  // one is enough to start repairing
  }
}

// Depth first against the flow, without recursion: a definition from outside may be a chain of any
// length.
bool Checker::FindCycle(const std::string& name, std::vector<std::string>& path) {
  if (colour_[name] != 0) return false;
  std::vector<int> next_input;
  auto enter = [&](const std::string& component) {
    colour_[component] = 1;
    path.push_back(component);
    next_input.push_back(0);
  };
  enter(name);
  while (!path.empty()) {
    auto it = components_.find(path.back());
    int& at = next_input.back();
    if (it == components_.end() || at >= it->second->inputs_size()) {
      colour_[path.back()] = 2;
      path.pop_back();
      next_input.pop_back();
      continue;
    }
    const proto::InputStream& input = it->second->inputs(at++);
    if (input.feedback()) continue;
    const std::string& upstream = input.component();
    if (colour_[upstream] == 1) {
      SayCycle(path, upstream);
      return true;
    }
    if (colour_[upstream] == 0) enter(upstream);
  }
  return false;
}

void Checker::SayCycle(const std::vector<std::string>& path, const std::string& again) {
  // `path` runs against the flow: print it from `again` on, reversed.
  auto first = std::find(path.begin(), path.end(), again);
  std::string text = Quoted(again);
  for (auto it = path.end(); it != first; --it) text += " -> " + Quoted(*(it - 1));
  Say("the components form a cycle: " + text +
      ". If that is meant, say which of its inputs closes it: .Shuffle(heron::Feedback(stream)) or "
      "another grouping of a Feedback");
}

}  // namespace

std::vector<std::string> CheckTopology(const proto::Topology& topology) {
  return Checker(topology).Run();
}

std::string GroupingName(proto::GroupingKind kind) {
  switch (kind) {
    case proto::SHUFFLE:
      return "shuffle";
    case proto::FIELDS:
      return "fields";
    case proto::ALL:
      return "all";
    case proto::GLOBAL:
      return "global";
    case proto::LOCAL_OR_SHUFFLE:
      return "local-or-shuffle";
    case proto::PARTIAL_KEY:
      return "partial-key";
    case proto::NONE:
      return "none";
    case proto::DIRECT:
      return "direct";
    case proto::CUSTOM:
      return "custom";
    default:
      return "unknown (" + std::to_string(static_cast<int>(kind)) + ")";
  }
}

}  // namespace heron::model
