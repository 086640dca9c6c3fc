# Word count at full speed, by real processes: CPU time per tuple of each kind of process. Figures only, but the answer is checked.

bench() {
  TEST_SRCDIR=$PROGRAMS/tests/benchmarks/word_count.runfiles TEST_WORKSPACE=heron "$PROGRAMS/tests/benchmarks/word_count" "$@" | sed 's/^/    /'
  [ "${PIPESTATUS[0]}" = 0 ]
}

point_one_container() { check "1 spout, 1 bolt, 1000 words" bench --runs="${RUNS:-5}"; }
point_large_vocabulary() { check "1 spout, 1 bolt, 450,000 words" bench --runs="${RUNS:-5}" --vocabulary=450000; }
point_two_by_two() { check "2 spouts, 2 bolts" bench --runs="${RUNS:-5}" --spouts=2 --bolts=2; }
point_two_containers() { check "1 spout, 1 bolt, 2 containers" bench --runs="${RUNS:-5}" --containers=2; }
point_acked() { check "1 spout, 1 bolt, 1000 words, acknowledged" bench --runs="${RUNS:-5}" --acked; }
point_acked_large_vocabulary() { check "1 spout, 1 bolt, 450,000 words, acknowledged" bench --runs="${RUNS:-5}" --acked --vocabulary=450000; }
point_acked_two_containers() { check "1 spout, 1 bolt, 2 containers, acknowledged" bench --runs="${RUNS:-5}" --acked --containers=2; }
