#include "tools/cli/explain_facts.h"

#include <algorithm>
#include <cstdlib>

#include "tools/cli/logs.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

using heron::Duration;
using heron::Result;
using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::state::TopologyKey;

constexpr char kHeadline[] = "--- started by heron";
constexpr int kLinesLookedAt = 200;

// A master renews every third of its lease.
Duration LeaseOf(const heron::proto::SubmittedTopology& submitted) {
  auto it = submitted.topology().config().find("topology.master.lease.ms");
  if (it == submitted.topology().config().end()) return std::chrono::seconds(1);
  return std::chrono::milliseconds(std::clamp(std::atoll(it->second.c_str()), 100LL, 600'000LL));
}

void LookAtMaster(Cli& cli, ExplainFacts* facts) {
  const std::string path = heron::state::MasterPath(facts->key);
  Result<heron::state::LeaseView> first = cli.store->ReadLease(path);
  if (!first.ok()) return;
  heron::proto::MasterLocation location;
  if (!location.ParseFromString(first->payload) || location.topology_id() != facts->row.id) return;
  facts->master = ExplainFacts::Master::kSilent;
  facts->master_pid = location.pid();
  if (first->released) return;
  const heron::MonotonicTime until = cli.clock->Now() + 3 * LeaseOf(facts->submitted) / 2;
  while (cli.clock->Now() < until && !cli.interrupted()) {
    cli.sleep(kPollInterval);
    Result<heron::state::LeaseView> now = cli.store->ReadLease(path);
    if (!now.ok() || (now->epoch == first->epoch && now->counter == first->counter)) continue;
    facts->master = ExplainFacts::Master::kAlive;
    return;
  }
}

template <typename Message>
Status Take(Result<MaybeStored<Message>> record, Message* into) {
  if (!record.ok()) return record.status();
  if (*record) *into = std::move((*record)->value);
  return Status::Ok();
}

Status ReadRecords(Cli& cli, const TopologyKey& key, ExplainFacts* facts) {
  auto desired = ReadDesired(*cli.store, key);
  if (!desired.ok()) return desired.status();
  if (*desired) {
    facts->desired = (*desired)->value;
    facts->author_alive = MayBeAlive(facts->desired->by());
  }
  HERON_RETURN_IF_ERROR(Take(ReadSubmitted(*cli.store, key), &facts->submitted));
  HERON_RETURN_IF_ERROR(Take(ReadPlan(*cli.store, key), &facts->plan));
  HERON_RETURN_IF_ERROR(Take(ReadExecution(*cli.store, key), &facts->execution));
  return Status::Ok();
}

}  // namespace

ExplainFacts GatherFacts(Cli& cli, const TopologyKey& key) {
  ExplainFacts facts;
  facts.key = key;
  facts.now_unix_ms = cli.clock->UnixMillis();
  const std::string command = CommandText(cli, "", key);
  facts.place = command.substr(7, command.size() - 7 - key.name.size());
  facts.last_lines = [](const std::string&, int) { return std::vector<std::string>(); };
  if (cli.failed_submits != nullptr) facts.failed_submit = cli.failed_submits->Find(key);
  facts.was_killed = cli.killed_names != nullptr && cli.killed_names->Contains(key);

  facts.store = ReadRecords(cli, key, &facts);
  if (!facts.store.ok()) return facts;
  Result<std::string> id = CurrentId(*cli.store, cli.cluster, key);
  if (!id.ok()) {
    (id.status().code() == heron::StatusCode::kNotFound ? facts.unknown : facts.store) =
        id.status();
    return facts;
  }
  Result<TopologyRow> row = ReadTopologyRow(cli, key);
  if (!row.ok()) {
    facts.store = row.status();
    return facts;
  }
  facts.row = *std::move(row);
  if (facts.execution.topology_id() != facts.row.id) facts.execution = ExecutionState();
  auto processes = cli.scheduler->Processes(facts.row.id);
  if (processes.ok()) facts.processes = *std::move(processes);
  const bool ended = facts.execution.state() == ExecutionState::FINISHED ||
                     facts.execution.state() == ExecutionState::FAILED;
  if (!ended && facts.row.state != "LOST") LookAtMaster(cli, &facts);

  const std::string folder = cli.scheduler->LogFolder(key, facts.row.id);
  facts.last_lines = [folder, plan = facts.plan](const std::string& target, int lines) {
    std::vector<std::string> found;
    auto files = FindLogFiles(folder, plan, target);
    if (!files.ok() || files->empty()) return found;
    std::string text;
    LogReader(files->front())
        .Read({kLinesLookedAt, /*older_files=*/true},
              [&text](std::string_view piece) { text += piece; });
    size_t end = text.size();
    while (end > 0 && found.size() < static_cast<size_t>(lines)) {
      const size_t begin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
      const std::string line = text.substr(begin, end - begin);
      if (line.find_first_not_of(" \t\r") != std::string::npos && !line.starts_with(kHeadline)) {
        found.insert(found.begin(), line);
      }
      end = begin == 0 ? 0 : begin - 1;
    }
    return found;
  };
  return facts;
}

}  // namespace tools::cli
