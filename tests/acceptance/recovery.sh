# kill -9 of each kind of process of a running topology, again and again: how long until data flows again, and what is left.

executed() {
  "$HERON" topologies "$1" --output json 2>/dev/null | awk -F'[:,]' '/"executed"/ {s += $2} END {print s + 0}'
}
pid_of() {  # the one process whose command line has all the words
  local p line word
  for p in /proc/[0-9]*; do
    line=$({ tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null) || continue
    grep -qF "$HERON_ROOT" <<<"$line" || continue
    for word in "$@"; do grep -qF -- "$word" <<<"$line" || continue 2; done
    grep -qE '^State:\s+[ZX]' "$p/status" 2>/dev/null && continue
    echo "${p#/proc/}"
    return 0
  done
  return 1
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }
is_new_pid() {  # is_new_pid OLD WORD...
  local old=$1 now
  shift
  now=$(pid_of "$@") && [ "$now" != "$old" ]
}
grows() { [ "$(executed "$1")" -gt "$2" ]; }
nothing_left() { local l; l=$(left_over); [ -z "$l" ] || { echo "$l"; return 1; }; }

point_kill_each() {
  "$HERON" submit local "$PROGRAMS/tests/integration/probe" r --wait=running --containers 2 -- endless >/dev/null 2>&1
  check "a topology runs" [ $? = 0 ]
  local who round pid start seen times
  for who in --heron-component=work --heron-component=numbers 'heron-stream-manager --container=1' 'heron-stream-manager --container=2' \
    heron-topology-master 'heron-executor --container=1' 'heron-executor --container=2'; do
    times=()
    for round in 1 2 3 4 5; do
      pid=$(pid_of $who) || { check "$who: is there" false; break; }
      start=$(now_ms)
      kill -KILL "$pid"
      eventually 10 is_new_pid "$pid" $who || { check "$who: comes back" false; break; }
      seen=$(executed r)
      eventually 10 grows r "$seen" || { check "$who: data flows again" false; break; }
      times+=($(($(now_ms) - start)))
    done
    check "$who: back and flowing after (ms, polled through the CLI): ${times[*]}" [ ${#times[@]} = 5 ]
  done
  pid=$(pid_of heron-supervisor)
  kill -KILL "$pid"
  seen=$(executed r)
  check "supervisor killed: data flows" eventually 5 grows r "$seen"
  "$HERON" kill r >/dev/null 2>&1
  check "kill without the supervisor" [ $? = 0 ]
  check "no process left" nothing_left
}

point_kill_at_random() {
  local i pid pids victim rc out
  for i in $(seq 1 "${ROUNDS:-25}"); do
    out=$work/random.$i
    "$HERON" submit local "$PROGRAMS/tests/integration/probe" "b$i" --wait=running --containers 2 -- bounded tuples=4000 pause_us=300 \
      finish_ms=300 out="$out" marks="$work/marks.$i" >/dev/null 2>&1
    sleep "$(printf '%d.%02d' $((RANDOM % 2)) $((RANDOM % 100)))"
    pids=($(left_over | grep -v heron-supervisor | cut -d' ' -f1))
    victim=none
    if [ ${#pids[@]} -gt 0 ]; then
      pid=${pids[RANDOM % ${#pids[@]}]}
      victim=$({ tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -oE 'heron-(executor|topology-master|stream-manager)|--heron-component=[a-z]+' | tail -n 1)
      kill -KILL "$pid" 2>/dev/null
    fi
    "$HERON" wait "b$i" --for finished --timeout 30s >"$work/wait.log" 2>&1
    rc=$?
    check "round $i, $victim killed: ends" [ $rc = 0 ] || cat "$work/wait.log"
    if [ "$(cat "$out" 2>/dev/null)" != "4000 7998000" ]; then
      check "round $i, $victim killed: a wrong answer says incomplete" grep -q incomplete "$work/wait.log"
    fi
    check "round $i: Finish once per task" [ -z "$(grep -o 'finish-begin [^ ]*' "$work/marks.$i" | sort | uniq -d)" ]
    check "round $i: nothing left" eventually 5 nothing_left
  done
}
