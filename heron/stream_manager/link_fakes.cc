#include "heron/stream_manager/link_fakes.h"

#include <glog/logging.h>

#include <utility>

#include "heron/stream_manager/core/epochs.h"

namespace heron::stream_manager {
namespace {

link::SessionListener::Options ListenAs(proto::Role role, ContainerId container, Epoch epoch) {
  link::SessionListener::Options options;
  options.self = link::MakeIdentity(role, container, 0, epoch);
  options.credentials = TestCredentials();
  options.lanes[proto::STREAM_MANAGER] = {proto::CONTROL};
  return options;
}

std::unique_ptr<link::SessionListener> Listen(net::EventLoop& loop,
                                              link::SessionListener::Options options,
                                              link::SessionHandler* handler) {
  auto listener = link::SessionListener::Listen(loop, std::move(options), handler);
  CHECK(listener.ok()) << listener.status().ToString();
  return std::move(listener).value();
}

}  // namespace

bool RunUntil(net::EventLoop& loop, const std::function<bool()>& done) {
  bool late = false;
  const net::TimerId deadline = loop.RunAfter(std::chrono::seconds(20), [&] {
    late = true;
    loop.Stop();
  });
  const net::TimerId look = loop.RunEvery(std::chrono::milliseconds(1), [&] {
    if (done()) loop.Stop();
  });
  loop.Run();
  loop.CancelTimer(deadline);
  loop.CancelTimer(look);
  return !late;
}

FakeMaster::FakeMaster(net::EventLoop& loop, proto::MasterUpdate first) : update(std::move(first)) {
  auto options = ListenAs(proto::TOPOLOGY_MASTER, 0, {update.mastership_epoch(), 0});
  options.admit = [this](const proto::Identity&) -> std::optional<link::Refusal> {
    if (!fence) return std::nullopt;
    return link::Refusal{proto::FENCED, "a newer one is there"};
  };
  listener_ = Listen(loop, std::move(options), this);
}

std::string FakeMaster::LeasePayload(const std::string& topology_id) const {
  proto::MasterLocation location;
  location.set_topology_id(topology_id);
  location.set_host("127.0.0.1");
  location.set_port(listener_->port());
  location.set_mastership_epoch(update.mastership_epoch());
  return location.SerializeAsString();
}

void FakeMaster::Publish() {
  for (auto& [session, container] : sessions_) {
    session->Send(proto::CONTROL, proto::MASTER_UPDATE, update);
  }
}

void FakeMaster::OnSessionUp(link::Session& session) {
  sessions_[&session] = session.peer().container();
  session.Send(proto::CONTROL, proto::MASTER_UPDATE, update);
}

void FakeMaster::OnFrame(link::Session& session, proto::Lane, net::Frame frame) {
  const auto report = Parse<proto::StreamManagerReport>(frame.bytes);
  const ContainerId container = session.peer().container();
  const bool known = reports.contains(container) && reports[container].port() == report.port();
  reports[container] = report;
  if (known) return;
  update.clear_addresses();
  for (const auto& [id, r] : reports) {
    auto* address = update.add_addresses();
    address->set_container(id);
    *address->mutable_epoch() = r.epoch();
    address->set_host(r.host());
    address->set_port(r.port());
  }
  Publish();
}

void FakeMaster::OnSessionDown(link::Session& session, const Status&) { sessions_.erase(&session); }

FakeExecutor::FakeExecutor(net::EventLoop& loop, ContainerId container) {
  listener_ = Listen(loop, ListenAs(proto::EXECUTOR, container, {}), this);
}

void FakeExecutor::OnFrame(link::Session&, proto::Lane, net::Frame frame) {
  if (frame.type == proto::CHILD_REPORT) reports.push_back(Parse<proto::ChildReport>(frame.bytes));
}

FakeInstance::FakeInstance(net::EventLoop& loop, ContainerId container, TaskId task, Epoch epoch)
    : container_(container), task_(task), epoch_(epoch) {
  link::SessionDialer::Options options;
  options.self = link::MakeIdentity(proto::INSTANCE, container, task, epoch);
  options.callee = link::MakeIdentity(proto::STREAM_MANAGER, container, 0, {});
  options.credentials = TestCredentials();
  options.lanes = {proto::CONTROL, proto::DATA, proto::ACK};
  options.on_refused = [this](const proto::Refused&) { ++refusals; };
  dialer_ = link::SessionDialer::Make(loop, std::move(options), this);
}

void FakeInstance::Dial(uint16_t port) {
  dialer_->SetTarget("127.0.0.1", port,
                     link::MakeIdentity(proto::STREAM_MANAGER, container_, 0, {}));
}

void FakeInstance::OnSessionUp(link::Session& session) {
  session.SendFrame(proto::CONTROL, ReportFrame(task_, epoch_, proto::TaskStatus::REGISTERED));
}

void FakeInstance::OnFrame(link::Session&, proto::Lane, net::Frame frame) {
  switch (frame.type) {
    case proto::TUPLE_BATCH: numbers.push_back(NumberOf(frame.bytes)); break;
    case proto::ENDED: ++ended; break;
    case proto::ENDED_CONFIRMED: ++confirmed; break;
    case proto::INSTANCE_PLAN: plans.push_back(Parse<proto::InstancePlan>(frame.bytes)); break;
    case proto::TASK_STATES: states = Parse<proto::TaskStates>(frame.bytes); break;
    default: break;
  }
}

}  // namespace heron::stream_manager
