// What stands on a port's links while it runs: a capture of what really leaves and arrives, and on it the device's
// fault plan. Both come and go.
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

  // What frames go through; changes with each of the calls below.
  link::Link& top();
  // From here on `base` is the link behind.
  void redirect(link::Link& base);

  void start_capture(std::shared_ptr<link::PcapngWriter> writer, link::CaptureInterface interface);
  void stop_capture();
  // Of the capture; nullptr if there is none.
  std::shared_ptr<link::PcapngWriter> writer() const { return capture_ ? capture_->writer() : nullptr; }

  // Frames that an earlier plan held are lost, as on a cable that is changed.
  void set_faults(const link::FaultPlan& plan);
  // A fault plan may hold frames.
  bool is_timed() const { return plan_.acts(); }

  void count(LinkCounters* counters) const;
  // Adds those of the fault plan's rules, the plan's own first; nothing if there is no plan.
  void count_rules(std::vector<link::RuleCounters>* sums) const;

 private:
  link::Link& below_faults() { return capture_ ? static_cast<link::Link&>(*capture_) : *base_; }
  void end_faults();
  void rebuild();

  link::Link* base_;
  std::unique_ptr<link::CaptureLink> capture_;
  std::unique_ptr<link::FaultLink> faults_;
  link::FaultPlan plan_;
  LinkCounters ended_;  // of earlier plans
};

}  // namespace verbs::soft::host
