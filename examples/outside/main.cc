// The topology:  numbers --shuffle--> squares --global--> sum
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include "components.h"
#include "heron/heron.h"

int main(int argc, char** argv) {
  const heron::Args args(argc, argv);  // what stands behind "--"
  int64_t last = 0;
  try {
    if (args.size() > 0) last = std::stoll(args[0]);
  } catch (const std::exception&) {
    std::cerr << "outside: '" << args[0] << "' is no number\n";
    return 2;
  }

  heron::TopologyBuilder topology("outside");
  auto numbers = topology.AddSpout("numbers", [=] { return Numbers(last); })
                     .Parallelism(2)
                     .Declares<int64_t>("n");
  if (last > 0) numbers.Bounded();  // it ends by itself
  auto squares = topology.AddBolt("squares", [] { return Squares(); })
                     .Parallelism(2)
                     .Declares<int64_t>("square")
                     .Shuffle(numbers);
  topology.AddBolt("sum", [] { return Sum(); }).Global(squares);
  return heron::Main(argc, argv, topology);
}
