// The raw packets of a device in operation: its ports on the Ethernet switch, and the steering of frames by its model
// or, without one, by the NIC's own flows. Used under the device's lock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "host/configuration/configuration.h"
#include "host/ethernet/ethernet_port.h"
#include "host/models/model_link.h"
#include "link/ethernet/tap.h"
#include "nic/nic.h"

namespace verbs::soft::host {

class RawPackets final : public nic::FrameSteering {
 public:
  // `notify`: a frame arrived, as in link::SwitchLink. 0, or fail()'s errno.
  static int open(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& notify,
                  std::unique_ptr<RawPackets>* raw);
  ~RawPackets();
  RawPackets(const RawPackets&) = delete;
  RawPackets& operator=(const RawPackets&) = delete;

  // Call it before frames are received. Only port() may be called earlier.
  void attach(nic::Nic& nic) { nic_ = &nic; }
  EthernetPort& port(std::size_t index) { return *ports_[index]; }
  // Whether frames may come or go. The ports of a device without a model are at the switch only while it has raw queue
  // pairs: most devices never have any, and shall not pay for them.
  bool in_use() const { return plugged_ || tap_ != nullptr; }

  void add_sockets(std::vector<int>* sockets) const;

  // These do for the Ethernet ports what PortStack does for its port.
  void start_capture(std::size_t index, std::shared_ptr<link::PcapngWriter> writer);
  void stop_capture();
  // For each port, as LinkStack's.
  std::vector<std::unique_ptr<link::FaultLink>> make_faults(const link::FaultPlan& plan);
  void set_faults(std::vector<std::unique_ptr<link::FaultLink>> faults);
  void count_rules(std::vector<link::RuleCounters>* sums) const;
  void advance(Nanos now);
  Nanos next_deadline() const;

  // At most `budget` frames of each port. Returns whether there may be more.
  bool receive(Nanos now, std::size_t budget);
  // Hands the frames that were sent to the interface of the kernel, if there is one.
  void flush();
  void count(LinkCounters* counters) const;
  void mark_inherited();

  // -- for the model: as the extension's functions of these names
  int transmit(std::uint8_t port_num, const verbs_soft_frame& frame);
  int deliver(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery);
  std::uint32_t frame_limit(std::uint8_t port_num) const { return nic_->ports().frame_limit(port_num); }

 private:
  RawPackets(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& notify);
  int open_tap(const DeviceConfig& config, const std::function<void()>& notify);

  void plug(bool plugged);

  // FrameSteering
  void use(bool any) override;
  void send(std::uint8_t port_num, nic::Qp* qp, verbs_soft_frame* frame) override;
  void receive(std::uint8_t port_num, verbs_soft_frame* frame) override;

  FrameHook hook_;
  std::vector<std::unique_ptr<EthernetPort>> ports_;
  std::unique_ptr<link::Tap> tap_;
  bool plugged_ = true;
  nic::Nic* nic_ = nullptr;
};

}  // namespace verbs::soft::host
