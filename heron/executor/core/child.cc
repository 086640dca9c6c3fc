#include "heron/executor/core/child.h"

namespace heron::executor {

const char* ProcessName(proto::Role role) {
  switch (role) {
    case proto::TOPOLOGY_MASTER:
      return "topology-master";
    case proto::STREAM_MANAGER:
      return "stream-manager";
    case proto::INSTANCE:
      return "instance";
    default:
      return "process";
  }
}

std::string ToString(const ChildKey& key) {
  std::string text = ProcessName(key.role);
  if (key.role == proto::INSTANCE) text += " " + std::to_string(key.task);
  return text;
}

void WriteState(const Child& child, proto::ChildState* out) {
  out->set_process(ProcessName(child.key.role));
  out->set_task(child.key.task);
  out->set_pid(child.alive() ? child.pid : 0);
  out->set_running(child.phase == Child::Phase::kRunning);
  out->mutable_epoch()->set_incarnation(child.epoch.incarnation);
  out->mutable_epoch()->set_restart(child.epoch.restart);
}

}  // namespace heron::executor
