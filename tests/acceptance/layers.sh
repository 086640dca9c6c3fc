# Every grouping against a model, with two sources, three layers of 5-3-7 tasks and three containers: undisturbed and with random
# kills of tasks, stream managers and the topology master. ROUNDS (200) disturbed runs, the first with seed SEED (1).

layers_test() {
  TEST_SRCDIR=$PROGRAMS/tests/integration/layers_test.runfiles TEST_WORKSPACE=heron \
    "$PROGRAMS/tests/integration/layers_test" "$@" >"$work/layers.log" 2>&1
}

point_exact() {
  HERON_TEST_TUPLES=${TUPLES:-100000} layers_test --gtest_filter='Groupings/*'
  local rc=$?
  check "each grouping, ${TUPLES:-100000} tuples: exactly the right tasks ($(grep -c 'OK ] Groupings/.*' "$work/layers.log") of 9)" [ $rc = 0 ] || cat "$work/layers.log"
}
point_random_kills() {
  HERON_TEST_ROUNDS=${ROUNDS:-200} HERON_TEST_SEED=${SEED:-1} layers_test --gtest_filter='LayersUnderKills*'
  local rc=$?
  check "$(grep ' runs, ' "$work/layers.log" || echo 'no figures')" [ $rc = 0 ] || cat "$work/layers.log"
}
