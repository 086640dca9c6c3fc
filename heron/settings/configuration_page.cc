#include "heron/settings/configuration_page.h"

#include <cstdint>
#include <string_view>

#include "heron/settings/keys.h"

namespace heron::settings {
namespace {

// What stands in a cell must not end it.
std::string Cell(std::string_view text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string Code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

std::string TypeText(const Key& key) {
  std::string text(TypeName(key.type));
  const std::string_view unit = UnitOf(key.type);
  if (!unit.empty() && unit != text) text += ", " + std::string(unit);
  return text;
}

std::string BoundsText(const Key& key) {
  switch (key.type) {
    case KeyType::kEnum:
      return Cell(key.choices);
    case KeyType::kBool:
    case KeyType::kString:
      return "";
    default:
      return std::string(key.type == KeyType::kIntOrAuto ? "auto, or " : "") +
             std::to_string(key.min) + " to " + std::to_string(key.max);
  }
}

std::string_view ScopeText(const Key& key) {
  return key.scope == KeyScope::kTopology ? "topology" : "cluster";
}

constexpr std::string_view kHead = R"(# Configuration

Every key there is. Made from the table in `heron/settings/keys.cc`: do not edit this page, run
`bazel run //heron/settings:print_configuration > heron/docs/configuration.md`.

What is in effect, and where it was said: `heron config show [CLUSTER] [KEY]`.

## Where a key may be said

The later one wins:

1. the built-in default,
2. for `heron.root` the environment variable `HERON_ROOT`,
3. the cluster's file, `$HERON_CONFIG_FOLDER/CLUSTER/cluster.yaml`,
4. the user's file, `$HERON_ROOT/config.yaml`,
5. the topology's own configuration (keys of the scope *topology* only),
6. `--config KEY=VALUE` of `heron submit`.

A topology keeps what was in effect when it was submitted. `${NAME}` in a file is a variable of the environment;
`${HERON_ROOT}` is `heron.root`, `${CLUSTER}` the cluster's name. A key that begins with `heron.` or `topology.` and is not in
this table is an error; other keys are the topology's own.

Durations may be written with a unit (`500 ms`, `10 s`, `2 min`, `1 h`; keys that end in `.us` take `us`, `ms` and `s`), and so
may bytes (`64 KiB`, `8 MiB`, `1 GiB`, `1 MB`). A plain number is in the unit of the table.

## Keys

| key | scope | type, unit | default | bounds | what it does |
|---|---|---|---|---|---|
)";

}  // namespace

std::string ConfigurationPage() {
  std::string page(kHead);
  for (const Key& key : Keys()) {
    page += "| " + Code(key.name) + " | " + std::string(ScopeText(key)) + " | " + TypeText(key) +
            " | " + Code(Cell(key.default_value)) + " | " + BoundsText(key) + " | " +
            Cell(key.description) + " |\n";
  }
  if (OldKeys().empty()) return page;
  page += "\n## Names of Heron's that are still read\n\n| name | is read as |\n|---|---|\n";
  for (const OldKey& old : OldKeys()) {
    page += "| " + Code(old.name) + " | " + Code(old.now) +
            (old.factor == 1 ? "" : ", times " + std::to_string(old.factor)) + " |\n";
  }
  return page;
}

}  // namespace heron::settings
