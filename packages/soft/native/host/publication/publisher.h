// Reports to other processes of the same user what this process does with the software NIC, for `verbs top`.
//
// A thread sleeps in poll() until a process connects to an abstract socket; then it writes one report and closes.
// Nobody asks, nothing runs: the data path knows nothing of it. Abstract sockets have no permissions, so both sides
// check the other's user ID (SO_PEERCRED): of other users the publisher closes the connection, and takes the next one
// only after a pause, so that they cannot keep it busy. The name tells a process ID and a user ID, which /proc tells
// everybody.
//
// VERBS_SOFT_PUBLISH=0 switches it off.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "host/progress/wake_event.h"

namespace verbs::soft::host {

// The abstract names of a user's publishers begin so, behind the zero byte.
std::string publisher_prefix(uid_t user);

class Publisher {
 public:
  using Report = std::function<std::string()>;

  // nullptr if it is switched off, or if this process may not have such a socket or a thread: no error of the program.
  static std::unique_ptr<Publisher> start(Report report);
  // Waits for a report in progress: not under a lock that the report takes.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // In a forked child, whose parent has the thread: gives the descriptors back. The object must not be destroyed.
  void abandon();

 private:
  explicit Publisher(Report report) : report_(std::move(report)) {}
  bool open();
  void run();
  void serve(int connection);

  Report report_;
  int listener_ = -1;
  uid_t user_ = 0;
  WakeEvent stop_;
  std::thread thread_;
};

}  // namespace verbs::soft::host
