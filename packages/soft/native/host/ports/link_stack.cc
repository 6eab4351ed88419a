#include "host/ports/link_stack.h"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "link/udp/udp_link.h"

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

AddressLink::AddressLink(std::vector<std::pair<wire::Gid, link::Link*>> links)
    : links_(std::move(links)),
      source_port_(links_.empty() ? 0 : links_.front().second->fixed_source_port()),
      nowhere_(std::make_unique<std::uint8_t[]>(wire::kMaxFrame)) {}

void AddressLink::remove(const wire::Gid& address) {
  for (const auto& [known, link] : links_) {
    if (known != address) continue;
    removed_relieved_ += link->relieve() + 1;  // nothing waits for it any more
    if (link == last_) last_ = nullptr;
  }
  std::erase_if(links_, [&](const auto& entry) { return entry.first == address; });
}

std::uint8_t* AddressLink::reserve() {
  if (links_.empty()) return reserved_ = nowhere_.get();
  if (last_ == nullptr) last_ = links_.front().second;
  return reserved_ = last_->reserve();
}

// That of the frame's source; the first one for what has another.
link::Link& AddressLink::link_of(std::span<const std::uint8_t> frame) const {
  const wire::Gid source = wire::source_of(frame);
  for (const auto& [address, link] : links_) {
    if (address == source) return *link;
  }
  return *links_.front().second;
}

std::uint8_t* AddressLink::take(link::Link& link, std::span<const std::uint8_t> frame) {
  if (&link == last_) return nullptr;
  last_ = &link;
  std::uint8_t* copy = link.reserve();
  std::memcpy(copy, frame.data(), frame.size());
  return copy;
}

void AddressLink::commit(std::size_t size) {
  if (links_.empty()) return;
  link::Link& link = link_of({reserved_, size});
  take(link, {reserved_, size});
  link.commit(size);
}

void AddressLink::commit_unsealed(std::span<std::uint8_t> frame) {
  if (links_.empty()) return;
  link::Link& link = link_of(frame);
  std::uint8_t* copy = take(link, frame);
  link.commit_unsealed(copy == nullptr ? frame : std::span(copy, frame.size()));
}

bool AddressLink::takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) {
  const auto takes = [&](const auto& entry) {
    return entry.first == source && entry.second->takes_references(source, destination, qp_num);
  };
  return std::any_of(links_.begin(), links_.end(), takes);
}

int AddressLink::route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) {
  for (const auto& [address, link] : links_) {
    if (address == source) return link->route(source, destination, mtu);
  }
  return link::find_route(source, destination, mtu);
}

std::shared_ptr<link::Neighbour> AddressLink::neighbour(const wire::Gid& source, const wire::Gid& destination) {
  for (const auto& [address, link] : links_) {
    if (address == source) return link->neighbour(source, destination);
  }
  return nullptr;
}

link::MessageWay* AddressLink::message_way(const wire::Gid& source, const wire::Gid& destination,
                                           std::uint32_t qp_num) {
  for (const auto& [address, link] : links_) {
    if (address == source) return link->message_way(source, destination, qp_num);
  }
  return nullptr;
}

void AddressLink::commit_referring(std::span<std::uint8_t> frame) {
  if (links_.empty()) return;
  link::Link& link = link_of(frame);
  std::uint8_t* copy = take(link, frame);
  link.commit_referring(copy == nullptr ? frame : std::span(copy, frame.size()));
}

void AddressLink::revoke_references() {
  for (const auto& [address, link] : links_) link->revoke_references();
}

void AddressLink::flush() {
  for (const auto& [address, link] : links_) link->flush();
}

bool AddressLink::congested(const wire::Gid& destination, std::uint32_t qp_num) {
  return std::any_of(links_.begin(), links_.end(),
                     [&](const auto& entry) { return entry.second->congested(destination, qp_num); });
}

std::uint64_t AddressLink::relieve() {
  std::uint64_t relieved = removed_relieved_;
  for (const auto& [address, link] : links_) relieved += link->relieve();
  return relieved;
}

link::Nanos AddressLink::next_deadline() const {
  link::Nanos deadline = INT64_MAX;
  for (const auto& [address, link] : links_) deadline = std::min(deadline, link->next_deadline());
  return deadline;
}

std::size_t AddressLink::receive(link::Receiver& receiver, std::size_t budget) {
  // Each link has the whole budget, so that a flood on one address does not starve the others.
  std::size_t taken = 0;
  for (const auto& [address, link] : links_) taken += link->receive(receiver, budget);
  return taken;
}

}  // namespace verbs::soft::host
