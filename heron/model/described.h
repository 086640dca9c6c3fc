// The bytes of a definition and their hash, by which an instance knows that its main() built what
// was submitted.
#pragma once

#include <string>
#include <string_view>

#include "proto/topology.pb.h"

namespace heron::model {

// The same definition gives the same bytes in every process and build: map fields are sorted.
std::string SerializeDescribed(const proto::Topology& topology);

// SHA-256 (32 raw bytes) of bytes that SerializeDescribed made: what a program writes to
// --heron-describe-fd.
std::string DescribedSha256(std::string_view serialized);
inline std::string DescribedSha256(const proto::Topology& topology) {
  return DescribedSha256(SerializeDescribed(topology));
}

}  // namespace heron::model
