// What /proc says about processes. A pid alone names nobody for long: an identity is the pid, the
// start time and the boot.
//
// Threads: any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heron/base/status.h"

namespace heron {

struct ProcessIdentity {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // clock ticks after boot, /proc/PID/stat
  std::string boot_id;       // of the kernel

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

struct ProcessStat {
  pid_t pid = 0;
  char state = '?';  // R S D T t Z X ...
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  uint64_t start_ticks = 0;

  bool alive() const { return state != 'Z' && state != 'X'; }
};

// The content of /proc/PID/stat; the command name in it may hold anything, brackets and spaces
// included.
Result<ProcessStat> ParseProcessStat(std::string_view text);
// NotFound when there is no such process.
Result<ProcessStat> ReadProcessStat(pid_t pid);

// Of the kernel; HERON_BOOT_ID in the environment stands for it in tests of a reboot.
const std::string& BootId();
// When this machine was started; 0 when it cannot be told.
int64_t BootUnixSeconds();
Result<ProcessIdentity> IdentityOf(pid_t pid);
// True while that very process exists and is not a zombie.
bool IsAlive(const ProcessIdentity& identity);

// All processes of this machine (pid namespace) as they are seen one after the other; some may be
// gone already.
std::vector<ProcessStat> ListProcesses();

// The children of `parent` among them, zombies included.
std::vector<ProcessStat> ListChildren(pid_t parent);

// Empty for a zombie, a stranger's process and one that is gone. At most 2 MiB are read.
std::vector<std::string> ReadCommandLine(pid_t pid);
// "NAME=VALUE", as the process was started with; empty as above.
std::vector<std::string> ReadEnvironment(pid_t pid);
// Whether that has exactly this "NAME=VALUE".
bool HasEnvironmentEntry(pid_t pid, std::string_view entry);

struct FoundProcess {
  ProcessIdentity identity;
  ProcessStat stat;
  std::vector<std::string> command_line;
  std::vector<std::string> environment;

  // The value of this name; empty when there is none.
  std::string EnvironmentValue(std::string_view name) const;
};

// The living processes of this user whose environment has `entry` ("NAME=VALUE"), in order of their
// pids.
std::vector<FoundProcess> FindProcesses(std::string_view entry);

}  // namespace heron
