// The program that process_test starts: does what its first argument says.
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "heron/base/process.h"

namespace {

[[noreturn]] void PauseForEver() {
  while (true) pause();
}

// Everything a child could inherit by mistake, on stdout.
int Describe() {
  char folder[4096];
  char* working_folder = getcwd(folder, sizeof(folder));
  std::printf("folder=%s\n", working_folder == nullptr ? "?" : working_folder);
  std::printf("VARIABLE=%s\n", std::getenv("VARIABLE") == nullptr ? "" : std::getenv("VARIABLE"));
  std::printf("HOME=%s\n", std::getenv("HOME") == nullptr ? "(none)" : std::getenv("HOME"));
  std::printf("leader=%d\n", getpgrp() == getpid());
  std::printf("session=%d\n", getsid(0) == getpid());
  struct sigaction pipe_action;
  sigaction(SIGPIPE, nullptr, &pipe_action);
  std::printf("pipe_default=%d\n", pipe_action.sa_handler == SIG_DFL);
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  std::printf("term_blocked=%d\n", sigismember(&blocked, SIGTERM));
  char byte;
  std::printf("stdin=%zd\n", read(0, &byte, 1));
  int descriptors = 0;
  DIR* open_ones = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(open_ones)) {
    if (entry->d_name[0] != '.') ++descriptors;
  }
  closedir(open_ones);
  std::printf("descriptors=%d\n", descriptors - 1);  // without the folder's own
  std::fprintf(stderr, "on stderr\n");
  return 0;
}

int SpawnPausing(const char* self) {
  heron::SpawnOptions options;
  options.argv = {self, "pause"};
  const auto child = heron::SpawnProcess(options);
  if (!child.ok()) return 1;
  std::printf("%d\n", child->pid);
  std::fflush(stdout);
  PauseForEver();
}

// A daemon in a session of its own whose parent ends at once.
int DoubleFork() {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      std::printf("%d\n", getpid());
      std::fflush(stdout);
      PauseForEver();
    }
    _exit(0);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "describe") return Describe();
  if (what == "exit") return std::atoi(argv[2]);
  if (what == "pause") PauseForEver();
  if (what == "spawn") return SpawnPausing(argv[0]);
  if (what == "double-fork") return DoubleFork();
  return 99;
}
