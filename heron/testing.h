// For tests of topologies, with any test framework; everything prints itself in GoogleTest.
//
//   heron::testing::BoltHarness h(Split{});
//   h.Execute("a b");
//   EXPECT_THAT(h.Emitted(), ElementsAre(Row("a"), Row("b")));
#pragma once

#include "heron/testing/bolt_harness.h"
#include "heron/testing/collector.h"
#include "heron/testing/row.h"
#include "heron/testing/run_topology.h"
#include "heron/testing/spout_harness.h"
#include "heron/testing/task_harness.h"
