// The single looks of `heron doctor`. Each asks the machine; none changes it.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/doctor.h"

namespace tools::cli {

// Of the folder of everything: there or can be made, writable, space, file system.
std::vector<Check> CheckRoot(const std::string& root);
// The executables are there, start, and have this version.
std::vector<Check> CheckEngine(const DoctorInputs& inputs);
// The files of settings, the state store they name, and processes of topologies it does not know.
std::vector<Check> CheckConfigurationAndStore(const DoctorInputs& inputs);
Check CheckLoopback();
Check CheckLimits();
Check CheckMemory();
Check CheckCgroups(const std::string& cgroup);
Check CheckProc();
Check CheckClock(const std::string& self);
Check CheckBootId();

}  // namespace tools::cli
