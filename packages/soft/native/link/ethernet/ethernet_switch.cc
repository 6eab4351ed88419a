#include "link/ethernet/ethernet_switch.h"

#include <algorithm>
#include <map>

#include "link/process_instance.h"

namespace verbs::soft::link {
namespace {

struct Switches {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<EthernetSwitch>> by_name;
};

}  // namespace

std::shared_ptr<EthernetSwitch> EthernetSwitch::named(const std::string& name) {
  Switches& all = process_instance<Switches>();
  const std::lock_guard lock(all.mutex);
  std::weak_ptr<EthernetSwitch>& entry = all.by_name[name];
  std::shared_ptr<EthernetSwitch> found = entry.lock();
  if (!found) entry = found = std::make_shared<EthernetSwitch>();
  return found;
}

void EthernetSwitch::join(const std::shared_ptr<FrameQueue>& queue, const Mac* own, bool teaches) {
  const std::lock_guard lock(mutex_);
  members_.push_back({own != nullptr ? mac_key(own->data()) : kNobody, queue, teaches});
}

void EthernetSwitch::leave(const FrameQueue* queue) {
  const std::lock_guard lock(mutex_);
  std::erase_if(members_, [&](const Member& member) { return member.queue.get() == queue; });
  forget(queue);
}

const EthernetSwitch::Member* EthernetSwitch::owner_of(std::uint64_t key) const {
  const auto found = std::ranges::find(members_, key, &Member::own);
  return found == members_.end() ? nullptr : &*found;
}

FrameQueue* EthernetSwitch::find(std::uint64_t key) const {
  if (const Member* owner = owner_of(key)) return owner->queue.get();
  if (!learned_) return nullptr;
  const Set& set = learned_[set_of(key)];
  for (std::size_t way = 0; way < kWays; ++way) {
    if (set.keys[way] == key) return set.queues[way];
  }
  return nullptr;
}

void EthernetSwitch::learn(std::uint64_t key, FrameQueue* queue) {
  if (owner_of(key) != nullptr) return;
  if (!learned_) {
    learned_ = std::make_unique<Set[]>(kSets);
    for (std::size_t i = 0; i < kSets; ++i) learned_[i].keys.fill(kNobody);
  }
  Set& set = learned_[set_of(key)];
  std::size_t way = kWays;
  for (std::size_t i = 0; i < kWays; ++i) {
    if (set.keys[i] == key || (set.keys[i] == kNobody && way == kWays)) way = i;
    if (set.keys[i] == key) break;
  }
  if (way == kWays) way = set.next++ % kWays;
  set.keys[way] = key;
  set.queues[way] = queue;
}

void EthernetSwitch::forget(const FrameQueue* queue) {
  for (std::size_t i = 0; learned_ && i < kSets; ++i) {
    for (std::size_t way = 0; way < kWays; ++way) {
      if (learned_[i].queues[way] == queue) learned_[i].keys[way] = kNobody;
    }
  }
}

EthernetSwitch::Outcome EthernetSwitch::forward(const FrameQueue* from, std::span<const std::uint8_t> frame) {
  const std::uint8_t* destination = frame.data();
  const std::uint8_t* source = destination + 6;
  Outcome outcome;
  const auto send = [&](FrameQueue& queue) { ++(queue.push(frame) ? outcome.sent : outcome.overflow); };
  const std::lock_guard lock(mutex_);
  const auto ingress = std::ranges::find(members_, from, [](const Member& member) { return member.queue.get(); });
  if (ingress == members_.end()) return outcome;
  if (ingress->teaches && !is_group_address(source) && mac_key(source) != ingress->own) {
    learn(mac_key(source), ingress->queue.get());
  }
  const bool group = is_group_address(destination);
  FrameQueue* known = group ? nullptr : find(mac_key(destination));
  if (known == from) {
    outcome.filtered = true;
  } else if (known != nullptr) {
    send(*known);
  } else {
    for (const Member& member : members_) {
      if (group || member.queue.get() != from) send(*member.queue);
    }
  }
  return outcome;
}

SwitchLink::SwitchLink(std::shared_ptr<EthernetSwitch> to, const Mac* own, std::function<void()> notify, bool teaches)
    : switch_(std::move(to)), notify_(std::move(notify)), teaches_(teaches) {
  if (own != nullptr) own_ = *own;
  plug();
}

SwitchLink::~SwitchLink() { unplug(); }

void SwitchLink::plug() {
  if (queue_) return;
  auto queue = std::make_shared<FrameQueue>(notify_);
  switch_->join(queue, own_ ? &*own_ : nullptr, teaches_);
  queue_ = std::move(queue);
}

void SwitchLink::unplug() {
  if (!queue_) return;
  switch_->leave(queue_.get());
  queue_->close();
  queue_.reset();
}

void SwitchLink::send(std::span<const std::uint8_t> frame) {
  if (frame.size() < EthernetSwitch::kMinFrame || !queue_) return;
  const EthernetSwitch::Outcome outcome = switch_->forward(queue_.get(), frame);
  counters_.sent += outcome.sent;
  counters_.overflow += outcome.overflow;
  if (outcome.filtered) ++counters_.filtered;
}

std::size_t SwitchLink::receive(Receiver& receiver, std::size_t budget) {
  const std::size_t taken = queue_ ? queue_->drain(receiver, budget) : 0;
  counters_.received += taken;
  return taken;
}

}  // namespace verbs::soft::link
