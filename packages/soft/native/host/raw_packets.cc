#include "raw_packets.h"

#include <cerrno>

#include "event_queue.h"
#include "face.h"

namespace verbs::soft::host {
namespace {

class Arrivals final : public EthernetPort::Receiver {
 public:
  Arrivals(nic::Nic& nic, std::uint8_t port_num, Nanos now) : nic_(nic), port_num_(port_num), now_(now) {}
  void deliver(std::span<const std::uint8_t> frame, bool looped) override {
    nic_.take_frame(port_num_, frame, looped, now_);
  }

 private:
  nic::Nic& nic_;
  std::uint8_t port_num_;
  Nanos now_;
};

}  // namespace

RawPackets::RawPackets(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& ring)
    : hook_(hook) {
  Face& face = face_of(hook.device);
  link::Mac mac = face.mac;
  for (int i = 0; i < config.ports; ++i, ++mac.back()) {
    ports_.push_back(std::make_unique<EthernetPort>(mac, config.switch_name, ring));
  }
  face.raw = this;
}

RawPackets::~RawPackets() { face_of(hook_.device).raw = nullptr; }

bool RawPackets::receive(Nanos now, std::size_t budget) {
  bool more = false;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    Arrivals arrivals(*nic_, static_cast<std::uint8_t>(i + 1), now);
    more |= ports_[i]->receive(arrivals, budget) >= budget;
  }
  return more;
}

void RawPackets::count(LinkCounters* counters) const {
  for (const auto& port : ports_) port->count(counters);
}

int RawPackets::transmit(std::uint8_t port_num, const verbs_soft_frame& frame) {
  return at_work_ ? nic_->transmit_frame(port_num, frame) : EPERM;
}

int RawPackets::deliver(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
  return at_work_ ? nic_->deliver_frame(qp, frame, delivery) : EPERM;
}

void RawPackets::send(std::uint8_t port_num, nic::Qp* qp, verbs_soft_frame* frame) {
  auto* face = static_cast<ibv_qp*>(static_cast<EventTarget*>(nic::owner_of(qp))->face);
  at_work_ = true;
  hook_.model->raw_send(hook_.model->data, hook_.device, port_num, face, frame);
  at_work_ = false;
}

void RawPackets::receive(std::uint8_t port_num, verbs_soft_frame* frame) {
  at_work_ = true;
  hook_.model->raw_receive(hook_.model->data, hook_.device, port_num, frame);
  at_work_ = false;
}

}  // namespace verbs::soft::host
