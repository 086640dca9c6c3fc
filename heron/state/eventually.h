// For tests: waiting for a condition instead of sleeping.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace heron::state {

// True as soon as it holds; false when it does not within 30 s.
inline bool Eventually(const std::function<bool()>& holds) {
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace heron::state
