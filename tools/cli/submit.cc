#include "tools/cli/submit.h"

#include "scheduler/uploader/sha256.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/recorded_launch.h"
#include "tools/cli/records.h"
#include "tools/cli/submission.h"

namespace tools::cli {
namespace {

using heron::Result;
using heron::Status;
using heron::proto::ExecutionState;

heron::proto::SubmittedTopology MakeSubmitted(const Cli& cli, const SubmitOptions& options,
                                              const Description& description,
                                              const Definition& definition) {
  heron::proto::SubmittedTopology submitted;
  submitted.set_name(options.key.name);
  submitted.set_role(options.key.role);
  submitted.set_env(options.key.env);
  submitted.set_cluster(cli.cluster);
  *submitted.mutable_topology() = definition.topology;
  submitted.set_described_sha256(scheduler::Sha256(description.bytes));
  for (const std::string& argument : options.arguments) submitted.add_arguments(argument);
  submitted.set_working_folder(options.working_folder);
  submitted.set_submitted_unix_ms(cli.clock->UnixMillis());
  submitted.set_submitted_by(options.user);
  submitted.set_engine_version(options.engine_version);
  submitted.mutable_key_groups()->insert(definition.key_groups.begin(),
                                         definition.key_groups.end());
  return submitted;
}

std::string Count(int number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string PackingText(const heron::proto::PackingPlan& plan) {
  int tasks = 0;
  for (const auto& container : plan.containers()) tasks += container.tasks_size();
  return Count(tasks, "task") + " into " + Count(plan.containers_size(), "container");
}

// `cause` is the code for `heron explain` when it fails.
Result<Definition> Prepare(const SubmitOptions& options,
                           const heron::settings::ClusterConfig& config, Progress& progress,
                           Description* description, std::string* cause) {
  *cause = "describe_failed";
  HERON_RETURN_IF_ERROR(CheckProgram(options.program));
  progress.Step("describing", options.program);
  Result<Description> described = Describe(options.program, options.arguments, options.describe);
  if (!described.ok()) return described.status();
  *description = std::move(*described);
  if (!description->printed.empty()) {
    progress.Note("the program says:\n" + description->printed);
  }
  Result<Definition> definition =
      Define(description->topology, options.key.name, options.overrides, config);
  if (!definition.ok()) {
    const bool packing = definition.status().code() == heron::StatusCode::kFailedPrecondition;
    *cause = packing ? "packing_impossible" : "definition_refused";
    return definition.status();
  }
  *cause = "submit_failed";
  progress.Step("packing", PackingText(definition->plan));
  for (const std::string& notice : definition->notices) progress.Note("note: " + notice);
  return definition;
}

void Report(Cli& cli, const SubmitOptions& options, const std::string& id) {
  auto execution = ReadExecution(*cli.store, options.key);
  ExecutionState state;
  if (execution.ok() && *execution) state = (*execution)->value;
  if (cli.json) {
    *cli.out << StateJson(options.key, id, state) << std::endl;
  } else if (options.wait) {
    *cli.out << options.key.name << " " << ExecutionState::State_Name(state.state()) << std::endl;
  } else {
    *cli.out << "submitted " << options.key.name << " (" << id
             << "); follow it: " << CommandText(cli, "wait", options.key) << std::endl;
  }
}

// Until its processes are started.
Status Start(Cli& cli, const SubmitOptions& options, const heron::settings::ClusterConfig& config,
             Progress& progress, std::string* cause, std::string* id) {
  Description description;
  Result<Definition> definition = Prepare(options, config, progress, &description, cause);
  if (!definition.ok()) return definition.status();
  progress.Finish();
  if (options.dry_run) {
    *cli.out << (cli.json ? PlanJson(options.key, definition->plan) + "\n" : PlanTable(*definition))
             << std::flush;
    return Status::Ok();
  }
  // Before anything is copied; the claim decides.
  HERON_RETURN_IF_ERROR(CheckNameIsFree(cli, options.key));
  auto process_settings = ProcessSettingsOf(definition->topology, config);
  if (!process_settings.ok()) return process_settings.status();
  Submission submission(cli, options, MakeSubmitted(cli, options, description, *definition),
                        definition->plan, *process_settings, progress);
  *id = submission.topology_id();
  HERON_RETURN_IF_ERROR(submission.Run());
  progress.Finish();
  return Status::Ok();
}

// For `heron explain`. That a name is taken, or that somebody pressed Ctrl-C, needs no explanation.
void RememberFailure(const Cli& cli, const SubmitOptions& options, const std::string& cause,
                     const Status& submitted) {
  if (cli.failed_submits == nullptr) return;
  if (submitted.ok()) {
    cli.failed_submits->Remove(options.key);
  } else if (submitted.code() != heron::StatusCode::kAlreadyExists && !cli.interrupted()) {
    cli.failed_submits->Put(options.key, {cause, submitted.message(), options.program,
                                          cli.clock->UnixMillis()});
  }
}

}  // namespace

Status SubmitCommand(Cli& cli, const SubmitOptions& options,
                     const heron::settings::ClusterConfig& config) {
  Progress progress(*cli.err, cli.terminal);
  std::string cause;
  std::string id;
  const Status submitted = Start(cli, options, config, progress, &cause, &id);
  if (!options.dry_run) RememberFailure(cli, options, cause, submitted);
  HERON_RETURN_IF_ERROR(submitted);
  if (options.dry_run) return Status::Ok();
  if (options.wait) {
    WaitOptions wait = *options.wait;
    wait.inactive_will_do = options.deploy_deactivated;
    HERON_RETURN_IF_ERROR(WaitForTopology(cli, options.key, id, wait, progress));
  }
  Report(cli, options, id);
  return Status::Ok();
}

}  // namespace tools::cli
