#include "host/ethernet/ethernet_port.h"

#include <algorithm>

namespace verbs::soft::host {
namespace {

class Marked final : public link::Receiver {
 public:
  Marked(EthernetPort::Receiver& receiver, bool looped) : receiver_(receiver), looped_(looped) {}
  void deliver(std::span<const std::uint8_t> frame) override { receiver_.deliver(frame, looped_); }

 private:
  EthernetPort::Receiver& receiver_;
  bool looped_;
};

}  // namespace

EthernetPort::EthernetPort(const link::Mac& mac, const std::string& switch_name, bool teaches,
                           std::function<void()> notify)
    : mac_(mac),
      notify_(std::move(notify)),
      link_(link::EthernetSwitch::named(switch_name), &mac_, notify_, teaches),
      stack_(link_) {}

void EthernetPort::set_plugged(bool plugged) {
  if (plugged) {
    link_.plug();
  } else {
    link_.unplug();
    looped_.reset();
  }
}

bool EthernetPort::take_back(std::span<const std::uint8_t> frame) {
  if (frame.size() < mac_.size() || !std::equal(mac_.begin(), mac_.end(), frame.begin())) return false;
  if (!looped_) looped_ = std::make_unique<link::FrameQueue>(notify_);
  if (!looped_->push(frame)) ++loop_overflow_;
  return true;
}

std::size_t EthernetPort::receive(Receiver& receiver, std::size_t budget) {
  Marked back(receiver, true), in(receiver, false);
  const std::size_t taken = looped_ ? looped_->drain(back, budget) : 0;
  return taken < budget ? taken + stack_.top().receive(in, budget - taken) : taken;
}

void EthernetPort::count(LinkCounters* counters) const {
  counters->add(link_.counters());
  stack_.count(counters);
  counters->add(link::SwitchCounters{.overflow = loop_overflow_});
}

}  // namespace verbs::soft::host
