// The scheduler: serves the queue pairs with output round robin, and fires the timers.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

class Scheduler {
 public:
  explicit Scheduler(Core& core) : core_(core) {}

  // Sends what is due: requests as far as the congestion windows allow, retransmissions and responses. Fires the timers
  // that are due by `now`. Bounded work: false while more could be sent at once. The host flushes the transmitters
  // after it. Queue pairs with a congested peer wait: the port's link wakes the host.
  bool pump(Nanos now);
  // pump() would send something now.
  bool has_output() { return !core_.active.empty() && (!held_ || held_at_ != releases()); }
  // When pump() is needed next if no packet arrives; kNever without timers.
  Nanos next_deadline() const { return std::min(core_.timers.next(), core_.cqs.next_deadline()); }
  // The time of calls that have no time argument. deliver() and pump() set it too.
  void set_time(Nanos now) { core_.set_time(now); }

 private:
  std::size_t serve(Qp& qp, std::size_t budget, Nanos now);
  std::size_t send(Qp& qp, std::size_t budget, Nanos now);
  std::uint64_t relieve();
  // Changes when a held queue pair may send, and when another one has output.
  std::uint64_t releases() { return relieve() + core_.active.additions(); }

  Core& core_;
  bool held_ = false;          // all queue pairs with output wait for congested addresses …
  std::uint64_t held_at_ = 0;  // … since releases() was this
};

}  // namespace verbs::soft::nic
