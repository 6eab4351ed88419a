// The sums of the counters of a device's links.
#pragma once

#include <cstdint>
#include <functional>

#include "link/ethernet/tap.h"
#include "link/faults/fault_link.h"
#include "link/inproc/inproc_link.h"
#include "link/shm/shm_link.h"
#include "link/udp/udp_link.h"

namespace verbs::soft::host {

class LinkCounters {
 public:
  using Counter = std::function<void(const char* name, std::uint64_t value)>;

  void add(const link::UdpCounters& more);
  void add(const link::InprocCounters& more);
  void add(const link::ShmCounters& more);
  void add(const link::FaultCounters& more);
  void add(const link::SwitchCounters& more);
  void add(const link::TapCounters& more);
  void add(const LinkCounters& more);

  void report(const Counter& counter) const;
  void report_switch(const Counter& counter) const;

 private:
  link::UdpCounters udp_;
  link::InprocCounters process_;
  link::ShmCounters shm_;
  link::FaultCounters faults_;
  link::SwitchCounters switch_;
  link::TapCounters tap_;
};

}  // namespace verbs::soft::host
