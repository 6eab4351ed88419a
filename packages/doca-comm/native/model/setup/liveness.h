// Which processes at the other ends of connections are known to live. Of all connections with one process, one asks at
// a time (a keep-alive), and its answer stands for all of them: many idle clients of one process cost little more than
// one. Where there is no answer, every connection asks for itself, so that each learns of its own loss.
#pragma once

#include <map>
#include <mutex>

#include "model/base/clock.h"
#include "model/setup/handshake.h"

namespace verbs::doca_comm::model {

class Liveness {
 public:
  // With the timeouts of nic/reliable.cc a dead process is noticed within 1.75 seconds.
  static constexpr Nanos kInterval = 300 * kMillisecond;
  // An answer is looked for, and is late, after this time.
  static constexpr Nanos kAnswerTime = 40 * kMillisecond;
  // A connection asks for itself after this time, though its process lives.
  static constexpr Nanos kOwnInterval = 8 * kInterval;

  // Whether a connection with that process shall ask now.
  bool claims(const UdAddress& process, Nanos time) {
    const std::lock_guard guard(mutex_);
    Process& of = processes_[process];
    const bool answered = of.answered >= of.asked;
    if (time - of.asked < (answered ? kInterval : kAnswerTime)) return false;
    if (answered) of.asked = time;
    return true;
  }
  void answered(const UdAddress& process, Nanos time) {
    const std::lock_guard guard(mutex_);
    processes_[process].answered = time;
  }
  // Those that nobody has asked for long are not needed.
  void prune(Nanos time) {
    const std::lock_guard guard(mutex_);
    if (time < prune_at_) return;
    prune_at_ = time + kSecond;
    std::erase_if(processes_, [&](const auto& each) { return time - each.second.asked > 10 * kSecond; });
  }

 private:
  struct Process {
    Nanos asked = 0;
    Nanos answered = 0;
  };
  std::mutex mutex_;
  std::map<UdAddress, Process> processes_;
  Nanos prune_at_ = 0;
};

}  // namespace verbs::doca_comm::model
