// The lines of ExecutionState.incomplete: what a topology lost on its way, for people. They are
// kept in the stored state itself, so that a new master goes on where the old one stopped: at most
// kMaxLines lines, then one that counts the rest.
//
// A line is known by its prefix (who and what); the same prefix again changes the line and adds
// none.
//
// Thread: the master's event loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/repeated_ptr_field.h"

namespace heron::topology_master {

class IncompleteReasons {
 public:
  static constexpr size_t kMaxLines = 20;

  IncompleteReasons() = default;
  explicit IncompleteReasons(const google::protobuf::RepeatedPtrField<std::string>& stored);

  // Something that happened, once more: "PREFIX (CAUSE): CONSEQUENCE", then "PREFIX 2 times (last:
  // CAUSE): CONSEQUENCE".
  void Happened(const std::string& prefix, const std::string& cause,
                const std::string& consequence, uint64_t times = 1);

  // A quantity: "PREFIX: TEXT". `is_new` says that this prefix was not noted before; it counts
  // where there is no room.
  void Note(const std::string& prefix, const std::string& text, bool is_new);

  void WriteTo(google::protobuf::RepeatedPtrField<std::string>* out) const;

 private:
  std::string* Find(const std::string& prefix);
  void Add(std::string line, uint64_t times);

  std::vector<std::string> lines_;
  uint64_t more_ = 0;
};

}  // namespace heron::topology_master
