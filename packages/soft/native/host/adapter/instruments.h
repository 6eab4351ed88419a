// Captures, fault plans and counters of a device in operation.
#pragma once

#include <string>
#include <vector>

#include "host/adapter/counter_names.h"
#include "host/adapter/device_core.h"

namespace verbs::soft::host {

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
