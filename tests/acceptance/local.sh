# The whole topology in one process: the same answers as by processes, nothing lost at a breakpoint, clean under sanitizers.

reference() { tr -s '[:space:]' '\n' <"$1" | grep -av '^$' | sort | uniq -c | awk '{c=$1; sub(/^ *[0-9]+ /,""); print $0 "\t" c}' | sort -t"$(printf '\t')" -k2,2nr -k1,1; }

count_locally() {  # count_locally INPUT P C
  rm -f "$work/out.tsv"
  "$HERON" run "$PROGRAMS/examples/wordcount/wordcount" --containers "$3" --parallelism lines="$2" --parallelism split="$2" \
    --parallelism count="$2" -- "$1" "$work/out.tsv" >"$work/run.log" 2>&1
}
all_shapes_locally() {  # all_shapes_locally NAME INPUT
  (set +o pipefail; reference "$2") >"$work/want.tsv"
  local p c before
  for p in 1 4; do
    for c in 1 3; do
      before=$SECONDS
      count_locally "$2" $p $c
      check "$1, parallelism $p, containers $c: exit code" [ $? = 0 ] || cat "$work/run.log"
      check "$1, parallelism $p, containers $c: byte for byte ($((SECONDS - before)) s)" cmp "$work/out.tsv" "$work/want.tsv"
    done
  done
}

point_texts() {
  all_shapes_locally GPL-3 /usr/share/common-licenses/GPL-3
  [ -n "${NOVEL:-}" ] && all_shapes_locally novel "$NOVEL"
  : >"$work/empty"
  all_shapes_locally "empty file" "$work/empty"
  printf 'a b\nb a c' >"$work/nonl"
  all_shapes_locally "no final newline" "$work/nonl"
  { echo "start x"; head -c 1048576 /dev/zero | tr '\0' w; echo " x end"; } >"$work/long"
  all_shapes_locally "1 MiB word" "$work/long"
  head -c 300000 /dev/urandom >"$work/random"
  all_shapes_locally "300 KB of random bytes" "$work/random"
  while cat /usr/share/common-licenses/GPL-3; do :; done 2>/dev/null | head -c 200000000 >"$work/big"
  all_shapes_locally "200 MB" "$work/big"
}

# All threads stand still, as at a breakpoint.
point_breakpoint() {
  local out=$work/stopped.out pid started=$SECONDS
  "$PROGRAMS/tests/integration/probe" --heron-local --heron-containers=2 -- bounded tuples=20000 pause_us=200 out="$out" >"$work/run.log" 2>&1 &
  pid=$!
  eventually 10 grep -q RUNNING "$work/run.log"
  kill -STOP $pid
  sleep "${STOPPED_SECONDS:-60}"
  kill -CONT $pid
  wait $pid
  check "stopped for ${STOPPED_SECONDS:-60} s: exit code" [ $? = 0 ] || cat "$work/run.log"
  check "nothing lost ($((SECONDS - started)) s)" [ "$(cat "$out" 2>/dev/null)" = "20000 199990000" ] || cat "$work/run.log"
  check "not incomplete" sh -c "! grep -q incomplete '$work/run.log'"
}

sanitized() {  # sanitized asan|tsan: the tests of local mode, and each example in this mode
  local cache=${HERON_BAZEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/heron-bazel} rc=0
  local options=(--config="$1" --disk_cache="$cache" --color=no --curses=no --noshow_progress --test_output=errors)
  {
    (cd "$root" && bazel test "${options[@]}" //tests/integration:local_mode_test //heron/testing/...) || rc=1
    (cd "$root" && bazel test "${options[@]}" //tests/integration:examples_test --test_filter='*InOneProcess*') || rc=1
    (cd "$root" && bazel shutdown)
  } >"$work/sanitized.log" 2>&1
  [ $rc = 0 ] || cat "$work/sanitized.log"
  return $rc
}
point_sanitizers() {
  check "local mode under the address sanitizer" sanitized asan
  check "local mode under the thread sanitizer" sanitized tsan
}
