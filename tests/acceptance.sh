#!/usr/bin/env bash
# The longer trials: tests/acceptance.sh TOPIC [POINT]. Each point prints its figures and "ok" or "FAILED"; exit 1 if one failed.
# Topics are the files of tests/acceptance/; a point is a function point_NAME in one.
set -uo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
topics=$(cd "$here/acceptance" && ls -- *.sh | sed 's/\.sh$//')
topic=${1:-}
if [ -z "$topic" ] || [ ! -f "$here/acceptance/$topic.sh" ]; then
  echo "usage: tests/acceptance.sh TOPIC [POINT]; topics: $(echo $topics)" >&2
  exit 2
fi

"$root/tools/setup.sh" || exit 1
. "$root/tools/build_engine.sh"
build_engine "$root" //examples/wordcount //tests/integration:probe //tests/integration:layers_test //tests/benchmarks:word_count || exit 1
PROGRAMS=$HERON_OUT
HERON=$HERON_BIN
work=$(mktemp -d "${TMPDIR:-/tmp}/heron-acceptance.XXXXXX")
export HERON_ROOT=$work/root

# Processes of this run's clusters that are not zombies.
left_over() {
  local p
  for p in /proc/[0-9]*; do
    { tr '\0' '\n' <"$p/environ"; } 2>/dev/null | grep -qxF "HERON_ROOT=$HERON_ROOT" || continue
    [ "$(basename "$p")" = $$ ] && continue
    { tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null | grep -q -- 'heron-\(supervisor\|executor\|topology-master\|stream-manager\|instance\)' || continue
    grep -qE '^State:\s+[ZX]' "$p/status" 2>/dev/null && continue
    echo "${p#/proc/} $({ tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null)"
  done
}
clean_up() {
  left_over | while read -r pid _; do kill -KILL "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

failures=0
check() {  # check TEXT COMMAND...
  local text=$1
  shift
  if "$@"; then echo "  ok      $text"; else echo "  FAILED  $text"; failures=$((failures + 1)); fi
}
# Waits until the command succeeds: eventually SECONDS COMMAND...
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -ge $end ] && return 1
    read -rt 0.05 <> <(:) || true
  done
}

echo "commit $(git -C "$root" rev-parse --short HEAD 2>/dev/null)$(git -C "$root" diff --quiet 2>/dev/null || echo ' (changed)'), $(date -u +%FT%TZ)"
echo "machine: $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(uname -sr), load $(cut -d' ' -f1-3 /proc/loadavg)"
. "$here/acceptance/$topic.sh"
points=$(declare -F | awk '{print $3}' | sed -n 's/^point_//p')
if [ -n "${2:-}" ]; then
  grep -qx "$2" <<<"$points" || { echo "topic $topic has the points: $(echo $points)" >&2; exit 2; }
  points=$2
fi
for point in $points; do
  echo "== $topic $point"
  start=$SECONDS
  "point_$point"
  echo "  ($((SECONDS - start)) s)"
done
[ $failures = 0 ] && echo "all held" || echo "$failures FAILED"
[ $failures = 0 ]
