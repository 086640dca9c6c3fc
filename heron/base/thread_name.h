// What debuggers and `top -H` show for a thread.
#pragma once

#include <pthread.h>

#include <string>

namespace heron {

// Of the calling thread; the kernel keeps 15 bytes.
inline void SetThreadName(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace heron
