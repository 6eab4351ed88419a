// The capture and the fault plan in front of a port's links. Both can be set while the port runs. The capture is behind
// the fault plan: it has the frames that really leave and arrive.
#pragma once

#include <memory>
#include <vector>

#include "host/ports/link_counters.h"
#include "link/capture/capture_link.h"
#include "link/faults/fault_link.h"
#include "link/link.h"

namespace verbs::soft::host {

class LinkStack {
 public:
  explicit LinkStack(link::Link& base) : base_(&base) {}

  // The link that frames pass first; every call below may change it.
  link::Link& top();
  // Replaces the link behind.
  void redirect(link::Link& base);

  // Without memory nothing has changed.
  void start_capture(std::shared_ptr<link::PcapngWriter> writer, link::CaptureInterface interface);
  void stop_capture();
  // nullptr without a capture.
  std::shared_ptr<link::PcapngWriter> writer() const { return capture_ ? capture_->writer() : nullptr; }

  // All that needs memory, so that a plan is set in several stacks or in none; nullptr: the plan changes no frame.
  std::unique_ptr<link::FaultLink> make_faults(const link::FaultPlan& plan);
  // Frames that an earlier plan delays are lost.
  void set_faults(std::unique_ptr<link::FaultLink> faults);
  // Whether frames may be delayed.
  bool is_timed() const { return faults_ != nullptr; }

  void count(LinkCounters* counters) const;
  // Adds the counters of the fault plan's rules, the plan's own rule first; nothing without a plan.
  void count_rules(std::vector<link::RuleCounters>* sums) const;

 private:
  link::Link& below_faults() { return capture_ ? static_cast<link::Link&>(*capture_) : *base_; }
  link::Link* base_;
  std::unique_ptr<link::CaptureLink> capture_;
  std::unique_ptr<link::FaultLink> faults_;
  LinkCounters ended_;  // sums of earlier plans
};

}  // namespace verbs::soft::host
