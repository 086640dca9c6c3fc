#include "heron/link/identity.h"

namespace heron::link {
namespace {

std::string RoleText(proto::Role role) {
  switch (role) {
    case proto::TOPOLOGY_MASTER:
      return "topology master";
    case proto::STREAM_MANAGER:
      return "stream manager";
    case proto::INSTANCE:
      return "instance";
    case proto::EXECUTOR:
      return "executor";
    case proto::METRICS_MANAGER:
      return "metrics manager";
    case proto::CHECKPOINT_MANAGER:
      return "checkpoint manager";
    default:
      return "process of unknown role " + std::to_string(static_cast<int>(role));
  }
}

}  // namespace

proto::Identity MakeIdentity(proto::Role role, ContainerId container, TaskId task, Epoch epoch) {
  proto::Identity identity;
  identity.set_role(role);
  identity.set_container(container);
  identity.set_task(task);
  SetEpoch(epoch, identity.mutable_epoch());
  return identity;
}

Epoch EpochOf(const proto::Epoch& epoch) { return Epoch{epoch.incarnation(), epoch.restart()}; }

void SetEpoch(Epoch epoch, proto::Epoch* out) {
  out->set_incarnation(epoch.incarnation);
  out->set_restart(epoch.restart);
}

Place PlaceOf(const proto::Identity& identity) {
  return Place{static_cast<int>(identity.role()), identity.container(), identity.task()};
}

std::string DescribeIdentity(const proto::Identity& identity) {
  std::string text = RoleText(identity.role());
  if (identity.task() != 0) text += " " + std::to_string(identity.task());
  if (identity.container() >= 0) text += " of container " + std::to_string(identity.container());
  return text + ", epoch " + EpochOf(identity.epoch()).ToString();
}

}  // namespace heron::link
