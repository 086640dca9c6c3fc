// Identities of processes as the handshake carries them.
#pragma once

#include <compare>
#include <string>

#include "heron/base/ids.h"
#include "proto/handshake.pb.h"

namespace heron::link {

proto::Identity MakeIdentity(proto::Role role, ContainerId container, TaskId task, Epoch epoch);
Epoch EpochOf(const proto::Epoch& epoch);
void SetEpoch(Epoch epoch, proto::Epoch* out);

// An identity without its epoch: the place that lives of a process fill one after the other.
struct Place {
  int role = 0;
  ContainerId container = 0;
  TaskId task = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
Place PlaceOf(const proto::Identity& identity);

// "instance 7 of container 2, epoch 1.3", for people.
std::string DescribeIdentity(const proto::Identity& identity);

}  // namespace heron::link
