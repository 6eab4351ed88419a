// Reports to other processes of the same user what this process does with the software NIC, for `verbs top`.
//
// A process that wants to know connects to an abstract socket, gets one report, and is hung up on (link/doors). Nobody
// asks, nothing runs: the data path knows nothing of it. The name tells a process ID and a user ID, which /proc tells
// everybody.
//
// VERBS_SOFT_PUBLISH=0 switches it off.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "link/doors/door.h"

namespace verbs::soft::host {

// The abstract names of a user's publishers begin so, behind the zero byte.
std::string publisher_prefix(uid_t user);

class Publisher {
 public:
  using Report = std::function<std::string()>;

  // nullptr if it is switched off, or if this process may not have such a socket or a thread: no error of the program.
  static std::unique_ptr<Publisher> start(Report report);
  // Waits for a report in progress, and for no reader: not under a lock that the report takes.
  ~Publisher() = default;
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // In a forked child, whose parent has the thread: gives the descriptors back. The object must not be destroyed.
  void abandon() { door_->abandon(); }

 private:
  explicit Publisher(Report report) : report_(std::move(report)) {}

  Report report_;
  std::unique_ptr<link::Door> door_;
};

}  // namespace verbs::soft::host
