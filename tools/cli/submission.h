// One submission: the steps of the fence between submit and kill, and what undoes them.
//
// SUBMITTING(id) is created exclusively in /desired and is the only right to go on: it is read
// again before the launch, and the last step turns it into ACTIVE or INACTIVE by compare-and-set. A
// kill that comes in between replaces it, so one of the two fails, and what this submission made is
// undone by itself. Only nodes that it wrote (by version) are deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heron/base/status.h"
#include "proto/plan.pb.h"
#include "tools/cli/context.h"
#include "tools/cli/progress.h"
#include "tools/cli/submit.h"

namespace tools::cli {

class Submission {
 public:
  // All must outlive it. `submitted` and `plan` as they are to be stored, but for ids and hashes of
  // packages.
  Submission(Cli& cli, const SubmitOptions& options, heron::proto::SubmittedTopology submitted,
             heron::proto::PackingPlan plan, std::string process_settings, Progress& progress);
  // Undoes whatever Run did, unless that ended well.
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  heron::Status Run();

  // NAME-HEX, unique for ever.
  const std::string& topology_id() const { return submitted_.topology_id(); }

 private:
  heron::Status PutPackages();
  heron::Status Claim();
  heron::Status MakeRoom();
  heron::Status Write(const std::string& path, const std::string& value);
  heron::Status StillOurs();
  heron::Status Launch();
  heron::Status Release();
  heron::Status CheckInterrupted();
  void Undo();
  void RemoveOwnRecords();

  Cli& cli_;
  const SubmitOptions& options_;
  heron::proto::SubmittedTopology submitted_;
  heron::proto::PackingPlan plan_;
  const std::string process_settings_;  // HERON_SETTINGS
  Progress& progress_;
  std::unique_ptr<scheduler::PackagesLock> packages_lock_;
  std::string engine_folder_;
  std::string program_path_;
  int64_t claim_version_ = 0;
  bool made_room_ = false;  // an ended topology was removed, its packages not yet
  std::vector<std::function<void()>> undo_;
};

// The right to the name: Ok when nobody has it, or a topology that has ended and may be replaced.
// AlreadyExists says who has it and what can be done.
heron::Status CheckNameIsFree(Cli& cli, const heron::state::TopologyKey& key);

}  // namespace tools::cli
