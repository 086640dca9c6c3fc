# Source me. build_engine ROOT TARGET... builds the engine, the CLI and the targets (optimised) and sets HERON_OUT (Bazel's
# output folder) and HERON_BIN (the CLI). Bazel's server does not outlive it.
build_engine() {
  local root=$1 log rc=0
  shift
  local cache=${HERON_BAZEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/heron-bazel}
  mkdir -p "$cache"
  log=$(mktemp)
  (cd "$root" && bazel build --config=opt --disk_cache="$cache" --color=no --curses=no --noshow_progress \
    //tools/cli:heron //heron/executor:heron-executor //heron/topology_master:heron-topology-master \
    //heron/stream_manager:heron-stream-manager //scheduler/local:heron-supervisor "$@") >"$log" 2>&1 || rc=$?
  if [ $rc = 0 ]; then
    HERON_OUT=$(cd "$root" && bazel info --config=opt bazel-bin 2>/dev/null)
    HERON_BIN=$HERON_OUT/tools/cli/heron
  else
    cat "$log" >&2
  fi
  rm -f "$log"
  (cd "$root" && bazel shutdown) >/dev/null 2>&1
  return $rc
}
