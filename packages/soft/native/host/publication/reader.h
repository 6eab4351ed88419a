// Reads what the processes of this user publish.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace verbs::soft::host {

// Calls `process(pid, report)` for each process of this user and network namespace that publishes, also for this one.
// All are asked at a time. Those that do not respond within 300 ms are left out.
void read_publishers(const std::function<void(pid_t, const std::string&)>& process);

}  // namespace verbs::soft::host
