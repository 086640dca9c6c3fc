// Prints heron/docs/configuration.md.
#include <iostream>

#include "heron/settings/configuration_page.h"

int main() {
  std::cout << heron::settings::ConfigurationPage() << std::flush;
  return std::cout.good() ? 0 : 1;
}
