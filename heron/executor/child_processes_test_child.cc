// The program that child_processes_test starts: does what its first argument says.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

[[noreturn]] void PauseForEver() {
  while (true) pause();
}

void SayPid() {
  std::printf("%d\n", getpid());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "fail") {
    std::printf("first\nsecond\nthird\nfourth\n");
    std::fflush(stdout);
    return 3;
  }
  if (what == "pause") PauseForEver();
  if (what == "leave-daemon-and-member") {
    // One that only stays in the group and ignores SIGTERM, one that leaves group, session and
    // parent.
    if (fork() == 0) {
      signal(SIGTERM, SIG_IGN);
      SayPid();
      PauseForEver();
    }
    if (fork() == 0) {
      setsid();
      if (fork() == 0) {
        SayPid();
        PauseForEver();
      }
      _exit(0);
    }
    PauseForEver();
  }
  return 99;
}
