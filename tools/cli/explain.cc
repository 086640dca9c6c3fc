#include "tools/cli/explain.h"

#include <algorithm>

#include "tools/cli/explain_facts.h"
#include "tools/cli/explain_json.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::state::TopologyKey;

constexpr size_t kVerdictLines = 10;
constexpr size_t kCausesShown = 3;

// Of several lines only the first: the others are evidence.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

Status Tell(Cli& cli, const ExplainFacts& facts) {
  const std::vector<Cause> causes = Explain(facts);
  Status status;
  if (!facts.store.ok()) status = facts.store;
  if (causes.front().code == "no_such_topology") status = heron::NotFound(causes.front().text);
  if (cli.json) {
    *cli.out << ExplainJson(cli.cluster, facts, causes, status) << std::endl;
    cli.error_printed = true;
    return status;
  }
  if (causes.front().code != "no_such_topology") *cli.out << ExplanationText(facts, causes);
  cli.out->flush();
  return status;
}

}  // namespace

std::string ExplanationText(const ExplainFacts& facts, const std::vector<Cause>& causes) {
  const std::string state = facts.row.state.empty() ? "" : " " + facts.row.state;
  std::string text = facts.key.name + state + ": " + FirstLine(causes.front().text) + "\n";
  for (size_t i = 1; i < causes.size(); ++i) {
    if (i + 1 == kVerdictLines && causes.size() > kVerdictLines) {
      text +=
          "  and " + std::to_string(causes.size() - i) + " more causes (--output json has all)\n";
      break;
    }
    text += "  also: " + FirstLine(causes[i].text) + "\n";
  }
  const size_t shown = std::min(causes.size(), kCausesShown);
  for (size_t i = 0; i < shown; ++i) {
    const Cause& cause = causes[i];
    if (shown > 1) text += "\n" + cause.code + ": " + FirstLine(cause.text) + "\n";
    for (const std::string& line : cause.evidence) text += "    " + line + "\n";
    for (const Remedy& remedy : cause.remedies) {
      text += "  do: " + remedy.what + (remedy.command.empty() ? "" : ": " + remedy.command) + "\n";
    }
  }
  return text;
}

Status ExplainCommand(Cli& cli, const TopologyKey& key) { return Tell(cli, GatherFacts(cli, key)); }

Status ExplainUnreachable(Cli& cli, const TopologyKey& key, const Status& why) {
  ExplainFacts facts;
  facts.key = key;
  facts.store = why;
  facts.now_unix_ms = cli.clock->UnixMillis();
  return Tell(cli, facts);
}

}  // namespace tools::cli
