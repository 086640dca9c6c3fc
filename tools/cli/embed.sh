#!/usr/bin/env bash
# Prints C++ that holds files: embed.sh FILE...
set -euo pipefail
cat <<'TXT'
#include "tools/cli/new.h"

namespace tools::cli {

const std::vector<std::pair<std::string, std::string>>& ProjectTemplate() {
  static const auto* const files = new std::vector<std::pair<std::string, std::string>>{
TXT
for file in "$@"; do
  printf '    {"%s", R"__FILE__(' "${file##*/}"
  cat "$file"
  printf ')__FILE__"},\n'
done
cat <<'TXT'
  };
  return *files;
}

}  // namespace tools::cli
TXT
