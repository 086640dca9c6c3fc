#include "heron/api/args.h"

#include <string_view>

#include "heron/api/errors.h"

namespace heron {

Args::Args(int argc, const char* const* argv) {
  int at = 1;
  while (at < argc && std::string_view(argv[at]) != "--") ++at;
  for (++at; at < argc; ++at) values_.emplace_back(argv[at]);
}

const std::string& Args::operator[](size_t index) const {
  if (index >= values_.size()) {
    throw Unrecoverable("argument " + std::to_string(index + 1) + " after -- is missing; there " +
                        (values_.size() == 1 ? "is " : "are ") + std::to_string(values_.size()));
  }
  return values_[index];
}

}  // namespace heron
