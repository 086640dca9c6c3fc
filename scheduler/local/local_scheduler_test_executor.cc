// Stands in for heron-executor in local_scheduler_test: behaves as the last part of --program says.
// Says its pids in the file "pids" of its working folder.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

[[noreturn]] void PauseForEver() {
  while (true) pause();
}

void Say(const char* who) {
  std::FILE* file = std::fopen("pids", "a");
  std::fprintf(file, "%s %d\n", who, getpid());
  std::fclose(file);
}

// As user code may do it: leaves group, session and parent, ignores what can be ignored.
void StartDaemon(bool without_environment) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  Say("daemon");
  if (without_environment && fork() == 0) {
    char* const arguments[] = {const_cast<char*>("local_scheduler_test_executor"),
                               const_cast<char*>("pause-only"), nullptr};
    char* const none[] = {nullptr};
    execve("/proc/self/exe", arguments, none);
    _exit(1);
  }
  PauseForEver();
}

}  // namespace

int main(int argc, char** argv) {
  std::string program;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--program=", 10) == 0) program = argv[i] + 10;
    if (std::strcmp(argv[i], "pause-only") == 0) {
      Say("bare");
      PauseForEver();
    }
  }
  const std::string what = program.substr(program.rfind('/') + 1);
  Say("executor");
  if (what == "exit-0") return 0;
  if (what == "daemon") StartDaemon(false);
  if (what == "bare-daemon") StartDaemon(true);
  if (what == "stubborn") signal(SIGTERM, SIG_IGN);
  PauseForEver();
}
