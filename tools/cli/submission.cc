#include "tools/cli/submission.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "heron/base/random.h"
#include "scheduler/scheduler.h"
#include "tools/cli/records.h"
#include "tools/cli/removal.h"

namespace tools::cli {
namespace {

using heron::Result;
using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::state::TopologyKey;

constexpr int kClaimTries = 10;
constexpr heron::Duration kPackagesLockTime = std::chrono::seconds(30);

// Whether the holder of the name has ended. AlreadyExists when not.
Status CheckHolder(Cli& cli, const TopologyKey& key, const DesiredState& desired) {
  const std::string who = "the name " + key.ToString() + " in cluster " + cli.cluster + " is taken";
  if (desired.desire() == DesiredState::SUBMITTING) {
    const bool alive = MayBeAlive(desired.by());
    return heron::AlreadyExists(
        who + " by a submit that " + (alive ? "is under way (" : "broke off (") + desired.by() +
        ")" + (alive ? "" : "; remove what it left: " + CommandText(cli, "kill", key)));
  }
  if (desired.desire() == DesiredState::KILLING) {
    return heron::AlreadyExists(who +
                                ": it is being killed; should that have broken off, finish it: " +
                                CommandText(cli, "kill", key));
  }
  auto execution = ReadExecution(*cli.store, key);
  if (!execution.ok()) return execution.status();
  const bool ended = *execution && (*execution)->value.topology_id() == desired.topology_id() &&
                     ((*execution)->value.state() == ExecutionState::FINISHED ||
                      (*execution)->value.state() == ExecutionState::FAILED);
  if (!ended) {
    return heron::AlreadyExists(who + " by " + desired.topology_id() +
                                "; end that first: " + CommandText(cli, "kill", key));
  }
  auto processes = cli.scheduler->Processes(desired.topology_id());
  if (!processes.ok()) return processes.status();
  if (!processes->empty()) {
    return heron::AlreadyExists(
        who + " by " + desired.topology_id() + ", which has ended, but not all of its processes (" +
        processes->front().what + "); try again, or: " + CommandText(cli, "kill", key));
  }
  return Status::Ok();
}

}  // namespace

Status CheckNameIsFree(Cli& cli, const TopologyKey& key) {
  auto desired = ReadDesired(*cli.store, key);
  if (!desired.ok()) return desired.status();
  if (*desired) return CheckHolder(cli, key, (*desired)->value);
  auto running = cli.scheduler->Running();
  if (!running.ok()) return running.status();
  for (const scheduler::RunningTopology& topology : *running) {
    if (topology.key.ToString() != key.ToString()) continue;
    return heron::AlreadyExists(
        "the name " + key.ToString() + " in cluster " + cli.cluster + " is taken by processes of " +
        topology.topology_id +
        ", whose records are gone; end them: " + CommandText(cli, "kill", key));
  }
  return Status::Ok();
}

Submission::Submission(Cli& cli, const SubmitOptions& options,
                       heron::proto::SubmittedTopology submitted, heron::proto::PackingPlan plan,
                       std::string process_settings, Progress& progress)
    : cli_(cli),
      options_(options),
      submitted_(std::move(submitted)),
      plan_(std::move(plan)),
      process_settings_(std::move(process_settings)),
      progress_(progress) {
  submitted_.set_topology_id(options.key.name + "-" + heron::ToHex(heron::RandomBytes(8)));
}

Submission::~Submission() { Undo(); }

void Submission::Undo() {
  while (!undo_.empty()) {
    undo_.back()();
    undo_.pop_back();
  }
  packages_lock_.reset();
}

Status Submission::Run() {
  const std::pair<const char*, Status (Submission::*)()> steps[] = {
      {"storing program and engine", &Submission::PutPackages},
      {"claiming the name", &Submission::Claim},
      {"starting containers", &Submission::Launch},
      {options_.deploy_deactivated ? "leaving it deactivated" : "activating", &Submission::Release},
  };
  for (const auto& [step, run] : steps) {
    HERON_RETURN_IF_ERROR(CheckInterrupted());
    progress_.Step(step);
    HERON_RETURN_IF_ERROR((this->*run)());
  }
  undo_.clear();  // it is theirs now
  if (made_room_) SweepPackages(cli_, progress_);
  return Status::Ok();
}

Status Submission::CheckInterrupted() {
  if (!cli_.interrupted()) return Status::Ok();
  return heron::FailedPrecondition("interrupted; what was done is undone, nothing was submitted");
}

Status Submission::PutPackages() {
  auto lock = cli_.packages->LockShared(kPackagesLockTime);
  if (!lock.ok()) return lock.status();
  packages_lock_ = std::move(*lock);
  undo_.push_back([this] {
    packages_lock_.reset();
    SweepPackages(cli_, progress_);
  });
  auto program = cli_.packages->PutProgram(options_.program);
  if (!program.ok()) return program.status();
  auto engine = cli_.packages->PutEngine(options_.engine);
  if (!engine.ok()) return engine.status();
  submitted_.set_program_sha256(program->sha256);
  submitted_.set_program_name(std::filesystem::path(options_.program).filename().string());
  submitted_.set_engine_sha256(engine->sha256);
  program_path_ = program->folder + "/" + submitted_.program_name();
  engine_folder_ = engine->folder;
  return Status::Ok();
}

// Removes an ended topology of the name, if there is one.
Status Submission::MakeRoom() {
  auto desired = ReadDesired(*cli_.store, options_.key);
  if (!desired.ok()) return desired.status();
  if (!*desired) return Status::Ok();
  HERON_RETURN_IF_ERROR(CheckHolder(cli_, options_.key, (*desired)->value));
  // Its sweep waits for the end of our lock: the packages that were just put are in no record yet,
  // so it must not run.
  const Status removed = EndAndRemoveIf(cli_, options_.key, **desired, progress_, Sweep::kNo);
  if (removed.code() == StatusCode::kVersionMismatch) return Status::Ok();  // look again
  made_room_ = removed.ok();
  return removed;
}

Status Submission::Claim() {
  DesiredState claim;
  claim.set_topology_id(topology_id());
  claim.set_desire(DesiredState::SUBMITTING);
  claim.set_by(cli_.by);
  claim.set_since_unix_ms(cli_.clock->UnixMillis());
  const std::string path = heron::state::DesiredPath(options_.key);
  for (int attempt = 0;; ++attempt) {
    HERON_RETURN_IF_ERROR(MakeRoom());
    auto created = cli_.store->Create(path, claim.SerializeAsString());
    if (created.ok()) {
      claim_version_ = *created;
      break;
    }
    if (created.status().code() != StatusCode::kAlreadyExists || attempt == kClaimTries) {
      return created.status();
    }
  }
  undo_.push_back([this, path] { cli_.store->Delete(path, claim_version_).IgnoreError(); });
  HERON_RETURN_IF_ERROR(
      Write(heron::state::TopologyPath(options_.key), submitted_.SerializeAsString()));
  HERON_RETURN_IF_ERROR(
      Write(heron::state::PackingPlanPath(options_.key), plan_.SerializeAsString()));
  packages_lock_.reset();  // a record names the packages now
  return Status::Ok();
}

Status Submission::Write(const std::string& path, const std::string& value) {
  auto created = cli_.store->Create(path, value);
  if (!created.ok()) {
    if (created.status().code() == StatusCode::kAlreadyExists) {
      return heron::FailedPrecondition(
          "there are left-overs of an earlier topology (" + path +
          "); remove them: " + CommandText(cli_, "kill", options_.key));
    }
    return created.status();
  }
  undo_.push_back(
      [this, path, version = *created] { cli_.store->Delete(path, version).IgnoreError(); });
  return Status::Ok();
}

Status Submission::StillOurs() {
  auto desired = ReadDesired(*cli_.store, options_.key);
  if (!desired.ok()) return desired.status();
  if (!*desired || (*desired)->version != claim_version_) {
    return heron::FailedPrecondition(options_.key.name + " was killed while it was submitted");
  }
  return Status::Ok();
}

Status Submission::Launch() {
  HERON_RETURN_IF_ERROR(StillOurs());
  scheduler::LaunchRequest request;
  request.key = options_.key;
  request.topology_id = topology_id();
  request.state_url = options_.state_url;
  request.packing_plan = plan_;
  request.process_settings = process_settings_;
  request.engine_folder = engine_folder_;
  request.program_path = program_path_;
  request.secret = heron::RandomBytes(32);
  // Also when Launch fails: what it could not undo itself is tried once more.
  undo_.push_back([this] {
    Status ended = cli_.scheduler->Kill(options_.key, topology_id());
    if (ended.ok())
      ended = cli_.scheduler->CleanUp(options_.key, topology_id(), /*keep_logs=*/false);
    if (!ended.ok()) progress_.Note("note: could not undo the launch: " + ended.message());
    RemoveOwnRecords();
  });
  return cli_.scheduler->Launch(request).WithContext("cannot start the containers");
}

// What its processes may have written, once they are dead and no newer topology has the name.
void Submission::RemoveOwnRecords() {
  const std::string id = topology_id();
  for (const std::string& path : NodesOf(options_.key)) {
    auto node = cli_.store->Get(path);
    if (!node.ok()) continue;
    std::string owner;
    if (path == heron::state::ExecutionStatePath(options_.key)) {
      ExecutionState state;
      if (state.ParseFromString(node->value)) owner = state.topology_id();
    } else if (path == heron::state::PhysicalPlanPath(options_.key)) {
      heron::proto::PhysicalPlan plan;
      if (plan.ParseFromString(node->value)) owner = plan.topology_id();
    } else if (path == heron::state::MasterPath(options_.key)) {
      auto lease = cli_.store->ReadLease(path);
      heron::proto::MasterLocation location;
      if (lease.ok() && location.ParseFromString(lease->payload)) owner = location.topology_id();
    }
    if (owner == id) cli_.store->Delete(path, node->version).IgnoreError();
  }
}

Status Submission::Release() {
  DesiredState wish;
  wish.set_topology_id(topology_id());
  wish.set_desire(options_.deploy_deactivated ? DesiredState::INACTIVE : DesiredState::ACTIVE);
  wish.set_by(cli_.by);
  wish.set_since_unix_ms(cli_.clock->UnixMillis());
  const std::string path = heron::state::DesiredPath(options_.key);
  const std::string bytes = wish.SerializeAsString();
  auto set = cli_.store->Set(path, bytes, claim_version_);
  if (set.ok()) return Status::Ok();
  // An answer that was lost is no failure: what is there now decides.
  auto now = cli_.store->Get(path);
  if (now.ok() && now->value == bytes) return Status::Ok();
  if (set.status().code() == StatusCode::kVersionMismatch ||
      set.status().code() == StatusCode::kNotFound) {
    return heron::FailedPrecondition(options_.key.name + " was killed while it was submitted");
  }
  return set.status();
}

}  // namespace tools::cli
