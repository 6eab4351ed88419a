// The raw packets of a device in operation: its ports on the Ethernet switch, and its model, which decides where frames
// go. Used under the device's lock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../nic/nic.h"
#include "configuration.h"
#include "ethernet_port.h"
#include "model_link.h"

namespace verbs::soft::host {

class RawPackets final : public nic::FrameSteering {
 public:
  // `ring`: a frame came in, as of links.
  RawPackets(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& ring);
  ~RawPackets();
  RawPackets(const RawPackets&) = delete;
  RawPackets& operator=(const RawPackets&) = delete;

  // Before anything else but port(). The NIC is there as long as frames are received.
  void attach(nic::Nic& nic) { nic_ = &nic; }
  EthernetPort& port(std::size_t index) { return *ports_[index]; }

  // At most `budget` frames of each port. Returns whether there may be more.
  bool receive(Nanos now, std::size_t budget);
  void count(LinkCounters* counters) const;

  // -- for the model: as the extension's functions of these names
  int transmit(std::uint8_t port_num, const verbs_soft_frame& frame);
  int deliver(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery);
  std::uint32_t frame_limit(std::uint8_t port_num) const { return nic_->frame_limit(port_num); }

 private:
  // FrameSteering
  void send(std::uint8_t port_num, nic::Qp* qp, verbs_soft_frame* frame) override;
  void receive(std::uint8_t port_num, verbs_soft_frame* frame) override;

  FrameHook hook_;
  std::vector<std::unique_ptr<EthernetPort>> ports_;
  nic::Nic* nic_ = nullptr;
  bool at_work_ = false;  // the model is deciding about a frame
};

}  // namespace verbs::soft::host
