// Which tasks of a local topology are alive, for messages about user code that does not return.
// Any thread.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace heron::local {

class RunningTasks {
 public:
  void Add(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    names_.insert(name);
  }
  void Remove(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    names_.erase(name);
  }
  std::vector<std::string> Names() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return {names_.begin(), names_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> names_;  // guarded by mutex_
};

}  // namespace heron::local
