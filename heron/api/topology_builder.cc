#include "heron/api/topology_builder.h"

#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <mutex>

#include "heron/api/internal/builder_access.h"
#include "heron/model/names.h"
#include "heron/model/topology_check.h"
#include "heron/settings/topology_settings.h"
#include "proto/topology.pb.h"

namespace heron {

struct TopologyBuilder::Impl {
  struct Factories {
    internal::SpoutFactory spout;
    internal::BoltFactory bolt;
  };
  struct Grouping {
    size_t reader;  // index of the component
    std::string source;
    std::string stream;
    internal::GroupingFactory factory;
  };

  proto::Topology definition;
  std::vector<Factories> factories;   // by component
  std::vector<Grouping> groupings;    // the custom ones
  std::deque<std::string> names;      // by component; addresses stay
  std::vector<std::string> mistakes;  // those that the definition cannot hold

  size_t Add(std::string name, proto::ComponentKind kind, Factories made_by) {
    proto::Component* component = definition.add_components();
    component->set_name(name);
    component->set_kind(kind);
    component->set_parallelism(1);
    factories.push_back(std::move(made_by));
    names.push_back(std::move(name));
    return names.size() - 1;
  }
  proto::Component& At(size_t index) {
    return *definition.mutable_components(static_cast<int>(index));
  }
};

namespace internal {

std::string ConfigText(bool value) { return value ? "true" : "false"; }
std::string ConfigText(int64_t value) { return std::to_string(value); }
std::string ConfigText(double value) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

namespace {
std::map<std::string, std::string> AsMap(
    const google::protobuf::Map<std::string, std::string>& config) {
  return {config.begin(), config.end()};
}
}  // namespace

const proto::Topology& BuilderAccess::Definition(const TopologyBuilder& builder) {
  return builder.impl_->definition;
}

std::vector<std::string> BuilderAccess::Mistakes(const TopologyBuilder& builder) {
  std::vector<std::string> mistakes = builder.impl_->mistakes;
  const proto::Topology& definition = builder.impl_->definition;
  for (std::string& mistake : model::CheckTopology(definition)) {
    mistakes.push_back(std::move(mistake));
  }
  for (std::string& problem : settings::ConfigProblems(AsMap(definition.config()))) {
    mistakes.push_back("topology: " + std::move(problem));
  }
  for (const proto::Component& component : definition.components()) {
    for (const std::string& problem :
         settings::ComponentConfigProblems(AsMap(component.config()))) {
      mistakes.push_back("component " + model::Quoted(component.name()) + ": " + problem);
    }
  }
  return mistakes;
}

namespace {

// Of all builders: factories may share what they like.
std::mutex factory_mutex;

}  // namespace

std::unique_ptr<Spout> BuilderAccess::MakeSpout(const TopologyBuilder& builder,
                                                const std::string& name) {
  std::lock_guard<std::mutex> lock(factory_mutex);
  const TopologyBuilder::Impl& impl = *builder.impl_;
  for (size_t i = 0; i < impl.names.size(); ++i) {
    if (impl.names[i] == name && impl.factories[i].spout) return impl.factories[i].spout();
  }
  return nullptr;
}

std::unique_ptr<CustomGrouping> BuilderAccess::MakeGrouping(const TopologyBuilder& builder,
                                                            const std::string& reader,
                                                            const std::string& source,
                                                            const std::string& stream) {
  std::lock_guard<std::mutex> lock(factory_mutex);
  const TopologyBuilder::Impl& impl = *builder.impl_;
  for (const TopologyBuilder::Impl::Grouping& grouping : impl.groupings) {
    if (impl.names[grouping.reader] == reader && grouping.source == source &&
        grouping.stream == stream) {
      return grouping.factory();
    }
  }
  return nullptr;
}

std::unique_ptr<Bolt> BuilderAccess::MakeBolt(const TopologyBuilder& builder,
                                              const std::string& name) {
  std::lock_guard<std::mutex> lock(factory_mutex);
  const TopologyBuilder::Impl& impl = *builder.impl_;
  for (size_t i = 0; i < impl.names.size(); ++i) {
    if (impl.names[i] == name && impl.factories[i].bolt) return impl.factories[i].bolt();
  }
  return nullptr;
}

}  // namespace internal

const std::string& ComponentHandle::name() const { return builder_->impl_->names[index_]; }

void ComponentHandle::SetParallelism(int64_t tasks) {
  if (tasks < 0 || tasks > std::numeric_limits<int32_t>::max()) {
    builder_->impl_->mistakes.push_back(
        "component " + model::Quoted(name()) + ": parallelism " + std::to_string(tasks) +
        " is out of range; it must be 1 to " + std::to_string(model::kMaxParallelism));
    return;
  }
  builder_->impl_->At(index_).set_parallelism(static_cast<uint32_t>(tasks));
}

void ComponentHandle::SetBounded() { builder_->impl_->At(index_).set_bounded(true); }

void ComponentHandle::SetTick(std::chrono::duration<double, std::micro> interval) {
  // What is out of bounds stays so: Build says it.
  constexpr double kMaxUs = 1e18;
  const double us = interval.count();
  const int64_t whole = std::isnan(us)          ? 0
                        : std::abs(us) > kMaxUs ? static_cast<int64_t>(std::copysign(kMaxUs, us))
                                                : std::llround(us);
  builder_->impl_->At(index_).set_tick_interval_us(whole);
}

void ComponentHandle::AddConfig(std::string key, std::string value) {
  (*builder_->impl_->At(index_).mutable_config())[std::move(key)] = std::move(value);
}

void ComponentHandle::AddOutput(std::string stream,
                                std::vector<internal::FieldDeclaration> fields) {
  proto::OutputStream* output = builder_->impl_->At(index_).add_outputs();
  for (internal::FieldDeclaration& field : fields) {
    proto::Field* added = output->add_fields();
    if (field.user_type) {
      if (field.user_type->empty()) {
        builder_->impl_->mistakes.push_back(
            "component " + model::Quoted(name()) + ": stream " + model::Quoted(stream) +
            ": field " + model::Quoted(field.name) + ": TypeName of its serializer is empty");
      }
      added->set_user_type(*std::move(field.user_type));
    }
    added->set_name(std::move(field.name));
    added->set_type(static_cast<proto::ValueType>(field.type));
  }
  output->set_name(std::move(stream));
}

void ComponentHandle::AddInput(const StreamRef& from, Grouping grouping,
                               std::vector<std::string> fields) {
  proto::InputStream* input = builder_->impl_->At(index_).add_inputs();
  input->set_component(from.component());
  input->set_stream(from.stream());
  if (from.feedback()) input->set_feedback(true);
  switch (grouping) {
    case Grouping::kShuffle:
      input->set_grouping(proto::SHUFFLE);
      break;
    case Grouping::kFields:
      input->set_grouping(proto::FIELDS);
      break;
    case Grouping::kAll:
      input->set_grouping(proto::ALL);
      break;
    case Grouping::kGlobal:
      input->set_grouping(proto::GLOBAL);
      break;
    case Grouping::kLocalOrShuffle:
      input->set_grouping(proto::LOCAL_OR_SHUFFLE);
      break;
    case Grouping::kPartialKey:
      input->set_grouping(proto::PARTIAL_KEY);
      break;
    case Grouping::kNone:
      input->set_grouping(proto::NONE);
      break;
    case Grouping::kDirect:
      input->set_grouping(proto::DIRECT);
      break;
    case Grouping::kCustom:
      input->set_grouping(proto::CUSTOM);
      break;
  }
  for (std::string& field : fields) input->add_fields(std::move(field));
}

void ComponentHandle::AddCustomInput(const StreamRef& from, internal::GroupingFactory factory) {
  AddInput(from, Grouping::kCustom, {});
  builder_->impl_->groupings.push_back(
      {index_, from.component(), from.stream(), std::move(factory)});
}

TopologyBuilder::TopologyBuilder(std::string name) : impl_(std::make_unique<Impl>()) {
  impl_->definition.set_name(std::move(name));
  impl_->definition.set_api_version(model::kApiVersion);
}

TopologyBuilder::~TopologyBuilder() = default;

TopologyBuilder& TopologyBuilder::Config(std::string key, std::string value) {
  (*impl_->definition.mutable_config())[std::move(key)] = std::move(value);
  return *this;
}

const std::string& TopologyBuilder::name() const { return impl_->definition.name(); }

BuildResult TopologyBuilder::Build() const { return {internal::BuilderAccess::Mistakes(*this)}; }

size_t TopologyBuilder::AddSpoutOf(std::string name, internal::SpoutFactory factory) {
  return impl_->Add(std::move(name), proto::SPOUT, {std::move(factory), nullptr});
}

size_t TopologyBuilder::AddBoltOf(std::string name, internal::BoltFactory factory) {
  return impl_->Add(std::move(name), proto::BOLT, {nullptr, std::move(factory)});
}

}  // namespace heron
