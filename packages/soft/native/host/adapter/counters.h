// The counters of a device: their names, and the instruments that read them.
#pragma once

#include <string>
#include <vector>

#include "host/adapter/device_core.h"
#include "host/ports/link_counters.h"
#include "nic/base/limits.h"

namespace verbs::soft::host {

// The names of a device's counters.

using Counter = LinkCounters::Counter;

// Calls `counter` with the name and value of each counter: of the NIC by the kernel's soft-RoCE names, of the links
// with the prefixes "link_" and "fault_".
void report(const nic::Counters& counters, const LinkCounters& links, const Counter& counter);
// By the reasons for which packets were dropped.
void report_drops(const nic::DeviceCounters& counters, const Counter& counter);
// The same for raw packets.
void report(const nic::FrameCounters& counters, const LinkCounters& links, const Counter& counter);

// The names of the NIC's own counters, in the order of nic::DeviceCounters; nullptr for those of raw packets where the
// device has none.
std::vector<const char*> names_in_order(bool has_frames);

// Captures, fault plans and counters of a device in operation.

class Instruments {
 public:
  explicit Instruments(DeviceCore& core) : core_(core) {}

  // 0, or fail()'s errno.
  int start_capture(const std::string& path, const CaptureConfig& capture);
  int stop_capture();
  void set_faults(const link::FaultPlan& plan);
  // Of the plan's own rule and of each further one; empty without a plan.
  std::vector<link::RuleCounters> rule_counters();
  void report_counters(const Counter& counter);

 private:
  int start_captures(const std::string& path, const CaptureConfig& capture);

  DeviceCore& core_;
};

}  // namespace verbs::soft::host
