// The components without an engine, and the topology as a whole in this process: make test.
#include "components.h"

#include <iostream>
#include <vector>

#include "heron/testing.h"

namespace {

using heron::testing::Row;

int failed = 0;

void Check(const char* what, const std::vector<Row>& got, const std::vector<Row>& wanted) {
  const bool ok = got == wanted;
  std::cout << (ok ? "ok      " : "FAILED  ") << what << "\n";
  if (ok) return;
  ++failed;
  for (const Row& row : got) std::cout << "        got " << row << "\n";
}

}  // namespace

int main() {
  heron::testing::SpoutHarness numbers{Numbers(3)};
  numbers.RunToEnd();
  Check("numbers count to the last", numbers.Emitted(), {Row(1), Row(2), Row(3)});

  heron::testing::BoltHarness squares{Squares()};
  squares.Execute(7);
  squares.Execute(-2);
  Check("each number is squared", squares.Emitted(), {Row(49), Row(4)});

  heron::testing::Collector results;
  heron::TopologyBuilder topology("outside");
  auto source =
      topology.AddSpout("numbers", [] { return Numbers(1); }).Bounded().Declares<int64_t>("n");
  auto bolt = topology.AddBolt("squares", [] { return Squares(); })
                  .Declares<int64_t>("square")
                  .Shuffle(source);
  topology.AddBolt("results", results.Bolt()).Global(bolt);
  const heron::testing::TopologyResult result = heron::testing::RunTopology(topology);
  if (!result.complete()) std::cout << "FAILED  " << result << "\n";
  Check("the whole topology", results.Rows(), {Row(1)});
  return failed == 0 && result.complete() ? 0 : 1;
}
