# The main job on every kind of text, byte for byte against the shell's own tools.

reference() { tr -s '[:space:]' '\n' <"$1" | grep -av '^$' | sort | uniq -c | awk '{c=$1; sub(/^ *[0-9]+ /,""); print $0 "\t" c}' | sort -t"$(printf '\t')" -k2,2nr -k1,1; }

count() {  # count INPUT P C: through the quickstart
  rm -f "$work/out.tsv"
  "$root/tools/quickstart.sh" --input "$1" --output "$work/out.tsv" --parallelism "$2" --containers "$3" >"$work/quickstart.log" 2>&1
}
same_as_reference() { cmp "$work/out.tsv" "$work/want.tsv"; }
nothing_left() { local l; l=$(left_over); [ -z "$l" ] || { echo "$l"; return 1; }; }

all_shapes() {  # all_shapes NAME INPUT
  (set +o pipefail; reference "$2") >"$work/want.tsv"
  local p c
  for p in 1 4; do
    for c in 1 3; do
      local before=$SECONDS
      count "$2" $p $c
      check "$1, parallelism $p, containers $c: exit code" [ $? = 0 ] || cat "$work/quickstart.log"
      check "$1, parallelism $p, containers $c: byte for byte ($((SECONDS - before)) s)" same_as_reference
      check "$1, parallelism $p, containers $c: no process left" nothing_left
    done
  done
}

point_gpl3() { all_shapes GPL-3 /usr/share/common-licenses/GPL-3; }
point_novel() {
  local novel=${NOVEL:-}
  if [ -z "$novel" ]; then
    novel=$work/novel.txt
    cat /usr/share/common-licenses/* /usr/share/doc/*/copyright 2>/dev/null | head -c 1300000 >"$novel"
  fi
  all_shapes "novel" "$novel"
}
point_empty() { : >"$work/empty"; all_shapes "empty file" "$work/empty"; }
point_no_newline() { printf 'a b\nb a c' >"$work/nonl"; all_shapes "no final newline" "$work/nonl"; }
point_long_word() {
  { echo "start x"; head -c 1048576 /dev/zero | tr '\0' w; echo " x end"; } >"$work/long"
  all_shapes "1 MiB word" "$work/long"
}
point_random_bytes() {
  head -c 300000 /dev/urandom >"$work/random"
  all_shapes "300 KB of random bytes" "$work/random"
}
point_big() {
  while cat /usr/share/common-licenses/GPL-3; do :; done 2>/dev/null | head -c 200000000 >"$work/big"
  all_shapes "200 MB" "$work/big"
}
point_long_line() {
  head -c 200000000 /dev/zero | tr '\0' x >"$work/line"
  local start=$SECONDS
  count "$work/line" 2 2
  check "200 MB without a newline: refused" [ $? != 0 ]
  check "names file, offset, size and limit" grep -q "$work/line.*offset 0.*8388608" "$work/quickstart.log"
  check "no output" [ ! -e "$work/out.tsv" ]
  check "no process left" nothing_left
}
refused() {  # refused NAME INPUT
  local start=$SECONDS rc
  count "$2" 2 2
  rc=$?
  check "$1: refused" [ $rc != 0 ]
  check "$1: within 10 s" [ $((SECONDS - start)) -le 10 ]
  check "$1: named" grep -qF "$2" "$work/quickstart.log"
  check "$1: nothing left" nothing_left
  "$HERON" submit local "$PROGRAMS/examples/wordcount/wordcount" refused --wait=finished --timeout 20s -- "$2" "$work/out.tsv" >"$work/quickstart.log" 2>&1
  rc=$?
  check "$1, without the quickstart: refused" [ $rc != 0 ]
  check "$1, without the quickstart: named" grep -qF "$2" "$work/quickstart.log"
  "$HERON" kill refused >/dev/null 2>&1
  check "$1, without the quickstart: nothing left" nothing_left
}
point_unusable() {
  refused "missing" "$work/missing"
  refused "folder" "$work"
  mkfifo "$work/pipe" 2>/dev/null
  refused "pipe" "$work/pipe"
}
point_twice_and_beside() {
  "$HERON" submit local "$PROGRAMS/tests/integration/probe" beside --wait=running -- endless >/dev/null 2>&1
  check "a topology runs" [ $? = 0 ]
  (cd / && all_shapes_once) || failures=$((failures + 1))
  check "the other one still runs" sh -c "'$HERON' topologies beside | grep -q RUNNING"
  "$HERON" kill beside >/dev/null 2>&1
  check "no process left" nothing_left
}
all_shapes_once() {
  local i
  for i in 1 2; do
    count /usr/share/common-licenses/GPL-3 2 2 || { cat "$work/quickstart.log"; return 1; }
  done
}
