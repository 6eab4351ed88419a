#include "link/ethernet/switch_link.h"

namespace verbs::soft::link {

SwitchLink::SwitchLink(std::shared_ptr<EthernetSwitch> to, const Mac* own, std::function<void()> notify, bool teaches)
    : switch_(std::move(to)), queue_(std::make_shared<FrameQueue>(std::move(notify))) {
  switch_->join(queue_, own, teaches);
}

SwitchLink::~SwitchLink() {
  switch_->leave(queue_.get());
  queue_->close();
}

void SwitchLink::send(std::span<const std::uint8_t> frame) {
  if (frame.size() < EthernetSwitch::kMinFrame) return;
  const EthernetSwitch::Outcome outcome = switch_->forward(queue_.get(), frame);
  counters_.sent += outcome.sent;
  counters_.overflow += outcome.overflow;
  if (outcome.filtered) ++counters_.filtered;
}

std::size_t SwitchLink::receive(Receiver& receiver, std::size_t budget) {
  const std::size_t taken = queue_->drain(receiver, budget);
  counters_.received += taken;
  return taken;
}

}  // namespace verbs::soft::link
