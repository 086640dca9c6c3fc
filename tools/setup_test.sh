#!/usr/bin/env bash
# setup.sh with a dpkg-query, an apt-get and an id that only pretend.
set -uo pipefail
setup=$PWD/tools/setup.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
calls=$work/calls
failed=0

# Only what the script uses: no sudo unless a case makes one.
for program in bash env awk grep cat mktemp rm ls; do ln -s "$(command -v "$program")" "$work/bin/"; done
pretend() { printf '#!/usr/bin/env bash\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
run() { : >"$calls"; PATH=$work/bin "$setup" "$@" >"$work/out" 2>"$work/err"; code=$?; }
check() {  # check WHAT COMMAND...
  local what=$1
  shift
  "$@" && return
  echo "FAILED: $what (exit code $code)"
  sed 's/^/  call: /' "$calls"
  sed 's/^/  stderr: /' "$work/err"
  failed=1
}
no() { ! "$@"; }

all='for p in "$@"; do case $p in -*|*Status*) ;; '$'*) echo "$p ii " ;; esac; done'
pretend dpkg-query "$all"
pretend apt-get "echo \"apt-get \$*\" >>$calls"
pretend id 'echo 0'
run
check "all there: success" test "$code" = 0
check "all there: nothing is installed" test ! -s "$calls"

# dpkg-query knows nothing of clang-14 and exits with 1; lld-14 was removed, its settings are still there.
pretend dpkg-query 'for p in "$@"; do case $p in -*|*Status*|clang-14) ;; lld-14) echo "$p rc " ;; *) echo "$p ii " ;; esac; done; exit 1'
run
check "one unknown: success" test "$code" = 0
check "an unknown package is installed" grep -q '^apt-get install .*clang-14' "$calls"
check "a removed package is installed" grep -q '^apt-get install .* lld-14' "$calls"
check "what is there is left alone" no grep -q 'bazel-bootstrap' "$calls"
check "the missing ones are named" grep -q 'clang-14 lld-14' "$work/err"

pretend apt-get "echo \"apt-get \$*\" >>$calls; [ \"\$1\" = update ] || { echo 'E: no such thing'; exit 100; }"
run
check "apt-get fails: failure" test "$code" = 1
check "apt-get fails: the packages are named" grep -q 'could not install: .*clang-14' "$work/err"
check "apt-get fails: its words are shown" grep -q 'no such thing' "$work/err"
check "apt-get fails: lists are updated first" grep -q 'apt-get update' "$calls"

pretend id 'echo 1000'
run
check "no root and no sudo: failure" test "$code" = 1
check "no root and no sudo: it says who can" grep -q 'only root can install them: .*clang-14' "$work/err"
check "no root and no sudo: nothing is tried" test ! -s "$calls"
pretend apt-get "echo \"apt-get \$*\" >>$calls"
pretend sudo 'exec "$@"'
run
check "sudo is used" test "$code" = 0
check "sudo is used to install" grep -q '^apt-get install .*clang-14' "$calls"

run --list
check "--list: success" test "$code" = 0
check "--list prints packages" grep -qx libprotobuf-dev "$work/out"
check "--list installs nothing" test ! -s "$calls"
run --nonsense
check "unknown argument: bad usage" test "$code" = 2
check "unknown argument is named" grep -q -- --nonsense "$work/err"

[ $failed = 0 ] && echo "all checks hold"
exit $failed
