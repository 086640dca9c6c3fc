#!/usr/bin/env bash
# Sets up, builds and tests everything; ends with a line "N passed, N failed, N skipped". Leaves no process behind.
#   tools/test.sh            real processes with the optimised build; unit tests with sanitizers; clang's checks
#   tools/test.sh --quick    everything once, optimised, no sanitizers
# The Bazel disk cache lies in ${HERON_BAZEL_CACHE:-~/.cache/heron-bazel}: a second run is short.
set -uo pipefail
cd "$(dirname "$0")/.."

quick=0
case "${1:-}" in
  --quick) quick=1 ;;
  "") ;;
  *) echo "usage: tools/test.sh [--quick]   (unknown argument: $1)" >&2; exit 2 ;;
esac

tools/setup.sh || exit 1

cache=${HERON_BAZEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/heron-bazel}
mkdir -p "$cache"
# Old entries go, so that the cache does not grow for ever.
find "$cache" -type f -atime +14 -delete 2>/dev/null
output_base=$(mktemp -d "${TMPDIR:-/tmp}/heron-test.XXXXXX")
log=$output_base.log
bazel_() { bazel --output_base="$output_base" "$@"; }
finish() {
  bazel_ shutdown >/dev/null 2>&1
  chmod -R u+w "$output_base" 2>/dev/null
  rm -rf "$output_base" "$log"
}
trap finish EXIT
trap 'exit 130' INT TERM

passed=0 failed=0 skipped=0
report=()

# step NAME build|test BAZEL-ARGUMENTS...: runs it, adds up the test results, remembers how long it took.
step() {
  local name=$1 verb=$2 start=$SECONDS rc
  shift 2
  echo "== $name"
  bazel_ "$verb" --disk_cache="$cache" --color=no --curses=no --noshow_progress -k "$@" 2>&1 | tee "$log"
  rc=${PIPESTATUS[0]}
  local p f
  p=$(grep -cE '^//.* (\(cached\) )?PASSED in ' "$log")
  f=$(grep -cE '^//.* (FAILED|TIMEOUT|NO STATUS|FLAKY)' "$log")
  [ "$rc" != 0 ] && [ "$f" = 0 ] && f=1
  passed=$((passed + p)) failed=$((failed + f))
  report+=("$(printf '%-34s %5d s   %d passed, %d failed' "$name" $((SECONDS - start)) "$p" "$f")")
}
skip() {
  skipped=$((skipped + 1))
  report+=("$(printf '%-34s skipped: %s' "$1" "$2")")
}

echo "== walls"
if tools/dev/check_walls.sh; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

if [ $quick = 1 ]; then
  step "build (gcc, optimised)" build --config=opt //heron/... //scheduler/... //tools/... //tests/... //examples/...
  step "all tests (gcc, optimised)" test --config=opt //heron/... //scheduler/... //tools/... //tests/... //examples/...
  skip "sanitizers and clang" "--quick"
else
  # Each unit test is built once, with the address sanitizer: two configurations of all of them do not fit into CI's time.
  step "build (gcc, optimised)" build --config=opt //examples/... //tests/integration/...
  step "real processes (gcc, optimised)" test --config=opt --build_tests_only //tests/integration/...
  step "unit tests, fuzz corpora (asan+ubsan)" test --config=asan --build_tests_only -- \
    //heron/... //scheduler/... //tools/... //tests/... //examples/... -//tests/integration/...
  step "base, net, link, instance (tsan)" test --config=tsan --build_tests_only -- \
    //heron/base/... //heron/net/... //heron/link/... //heron/instance/...
  step "key routing (gcc, optimised)" test --config=opt --build_tests_only //heron/routing/...
  step "key routing (clang, layering check)" test --config=clang --build_tests_only //heron/routing/...
fi
for tag in zookeeper slurm nomad prometheus browser kafka; do
  if ! grep -rqE "tags = .*\"$tag\"" --include=BUILD tests; then
    skip "tests tagged $tag" "there are none yet"
  fi
done

echo
printf '%s\n' "${report[@]}"
echo "total $SECONDS s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
