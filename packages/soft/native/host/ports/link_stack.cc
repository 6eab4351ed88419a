#include "host/ports/link_stack.h"

#include <algorithm>
#include <ctime>

namespace verbs::soft::host {
namespace {

std::uint64_t wall_clock() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

link::Link& LinkStack::top() { return faults_ ? static_cast<link::Link&>(*faults_) : below_faults(); }

void LinkStack::redirect(link::Link& base) {
  base_ = &base;
  if (capture_) {
    capture_->redirect(base);
  } else if (faults_) {
    faults_->redirect(base);
  }
}

void LinkStack::start_capture(std::shared_ptr<link::PcapngWriter> writer, link::CaptureInterface interface) {
  auto capture = std::make_unique<link::CaptureLink>(*base_, std::move(writer), wall_clock, interface);
  if (faults_) faults_->redirect(*capture);
  capture_ = std::move(capture);
}

void LinkStack::stop_capture() {
  if (faults_) faults_->redirect(*base_);
  capture_.reset();
}

std::unique_ptr<link::FaultLink> LinkStack::make_faults(const link::FaultPlan& plan) {
  if (!plan.acts()) return nullptr;
  auto faults = std::make_unique<link::FaultLink>(below_faults());
  faults->set_plan(plan);
  return faults;
}

void LinkStack::set_faults(std::unique_ptr<link::FaultLink> faults) {
  if (faults_) {
    ended_.add(faults_->egress_counters());
    ended_.add(faults_->ingress_counters());
  }
  faults_ = std::move(faults);
}

void LinkStack::count(LinkCounters* counters) const {
  counters->add(ended_);
  if (!faults_) return;
  counters->add(faults_->egress_counters());
  counters->add(faults_->ingress_counters());
}

void LinkStack::count_rules(std::vector<link::RuleCounters>* sums) const {
  if (!faults_) return;
  const std::vector<link::RuleCounters> rules = faults_->rule_counters();
  sums->resize(std::max(sums->size(), rules.size()));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    (*sums)[i].matched += rules[i].matched;
    (*sums)[i].hits += rules[i].hits;
  }
}

}  // namespace verbs::soft::host
