#!/usr/bin/env bash
# The walls that Bazel's visibility cannot see (heron/docs/architecture.md). Prints each breach; exit 1 if there is one.
set -uo pipefail
cd "$(dirname "$0")/../.."
breaches=$(mktemp)
trap 'rm -f "$breaches"' EXIT
breach() {  # breach RULE: the offending lines come on stdin
  local lines
  lines=$(cat)
  [ -z "$lines" ] && return
  echo "$1" >>"$breaches"  # a pipe's end runs in a shell of its own: a variable would be lost
  printf 'wall broken: %s\n%s\n' "$1" "$(sed 's/^/    /' <<<"$lines")"
}
files() { git ls-files -co --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && echo "$f"; done; }
search() {  # search PATTERN GLOB...: file:line:text
  local pattern=$1
  shift
  files "$@" | xargs -r grep -nE "$pattern" -- /dev/null
}

search '#include [<"]asio' 'heron/**' 'scheduler/**' 'tools/**' 'tests/**' 'examples/**' | grep -v '^heron/net/' |
  breach 'only heron/net includes asio'
search '#include [<"](asio|sys/socket|thread|mutex|gflags|heron/(net|link|state)/)' 'heron/*/core/**' |
  grep -v 'heron/net/frame.h' | # the codec of frames is free of I/O
  breach 'a core has no I/O, threads or flags'
search '(steady_clock|system_clock)::now|clock_gettime|gettimeofday' 'heron/*/core/**' | breach 'a core does not read the clock'
search '#include "heron/(net|link|state|settings|metrics|instance|stream_manager|topology_master|executor|local)/' 'heron/base/**' |
  breach 'heron/base includes nothing of ours'
search '#include "heron/(net|link|state|instance|stream_manager|topology_master|executor)/' 'heron/model/**' 'heron/routing/**' |
  breach 'model and routing do no I/O'
search '#include "(proto/|heron/(model|state|link|instance|stream_manager|topology_master|executor)/)' 'heron/net/**' |
  grep -v '^heron/net/[a-z_]*_test.cc:' | breach 'heron/net knows no message of ours'
search '#include [<"](heron/(net|link|state)/|glog)' 'heron/api/*.h' 'heron/heron.h' | breach 'public headers hide the engine'
processes=(topology_master stream_manager instance executor)
for p in "${processes[@]}"; do
  for q in "${processes[@]}"; do
    [ "$p" = "$q" ] && continue
    search "#include \"heron/$q/" "heron/$p/**" | breach "processes speak proto: heron/$p does not include heron/$q"
  done
  search "#include \"heron/$p/" 'scheduler/**' 'tools/**' | breach "scheduler and tools include no process ($p)"
done
search '#include "heron/api/' 'heron/topology_master/**' 'heron/stream_manager/**' 'heron/executor/**' |
  breach 'the API belongs to the instance'
comm -23 <(files '*.h' | sort -u) <(search '#pragma once' '*.h' | cut -d: -f1 | sort -u) | breach 'headers have #pragma once'
files | grep -E '(^|/)(util|utils|helper|helpers|common|misc)(\.|_|/|$)' | breach 'no file is named util, helper, common or misc'
search '\.\./shared|/work/' . | grep -v '^tools/dev/check_walls.sh:' | breach 'nothing refers to things outside the tree'
[ -s "$breaches" ] && exit 1
echo 'walls hold'
