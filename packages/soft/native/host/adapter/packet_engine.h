// The NIC of a device in operation with the links of its ports: frames that arrive at a port enter the NIC, and packets
// of the NIC leave by a port. Used under the device's lock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "host/adapter/management.h"
#include "host/configuration/configuration.h"
#include "host/ethernet/raw_packets.h"
#include "host/machine/counter_slot.h"
#include "host/models/model_link.h"
#include "host/ports/port_stack.h"
#include "host/progress/progress.h"
#include "nic/nic.h"

namespace verbs::soft::host {

// A counter that somebody else increments, under the lock; it lives longer than the NIC.
struct FollowedCounter {
  const char* name;
  const std::uint64_t* value;
};

class PacketEngine final : public Engine, private nic::NumberSource {
 public:
  PacketEngine() = default;
  PacketEngine(const PacketEngine&) = delete;
  PacketEngine& operator=(const PacketEngine&) = delete;

  // Claims the addresses of the ports. `notify`: a frame arrived from this process; called by any thread without the
  // lock. 0, or fail()'s errno.
  // `entrance`: for messages from this process.
  int open_ports(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& notify,
                 std::shared_ptr<link::Neighbour> entrance);
  // After open_ports(). `followed`: counters of the model.
  void make_nic(const DeviceConfig& config, std::uint64_t guid, const FrameHook& hook,
                std::vector<FollowedCounter> followed, nic::EventSink& events);

  // Waits until other processes at the addresses know of this one, so that the kernel brings its frames here; not long,
  // since they may be stopped.
  void settle();

  bool has_nic() const { return nic_ != nullptr; }
  nic::Nic& nic() { return *nic_; }
  const nic::Nic& nic() const { return *nic_; }
  cm::Manager& connections() { return management_->manager(); }
  Identifiers& identifiers() { return management_->identifiers(); }
  const std::vector<std::unique_ptr<PortStack>>& ports() const { return ports_; }
  PortStack& port(std::uint8_t port_num) { return *ports_[port_num - 1u]; }  // from 1
  RawPackets* raw() const { return raw_.get(); }                             // nullptr if the device has no raw packets
  // The sockets that are readable when frames wait.
  std::vector<int> sockets() const override;
  void add_sockets(std::vector<int>* all) const;
  // Because the NIC uses addresses that the ports only offered.
  bool take_change() override;
  LinkCounters link_counters() const;

  bool receive(Nanos now) override;
  bool has_output() const override;
  bool transmit(Nanos now) override;
  Nanos next_deadline() const override;
  void idle() override;
  void publish() override;
  void prepare_sleep() override;
  void stay_awake() override;
  // In a forked child: the peers and the network interfaces are the parent's.
  void mark_inherited();

 private:
  RawPackets* raw_in_use() const { return raw_ && raw_->in_use() ? raw_.get() : nullptr; }
  void flush();
  bool transmit_all(Nanos now);
  Nanos others_deadline() const;
  bool ports_wait() const;
  void follow_host();
  std::uint32_t base() const override { return std::uint32_t{numbers_->first()} << link::kRangeBits; }
  bool extend_to(std::uint32_t number) override;
  int choose(std::uint32_t number) override;

  link::OfferedMemory offered_;
  std::shared_ptr<link::NumberRanges> numbers_ = link::NumberRanges::all();
  std::shared_ptr<link::Neighbour> entrance_;
  std::vector<std::unique_ptr<PortStack>> ports_;
  std::unique_ptr<RawPackets> raw_;
  std::unique_ptr<Management> management_;
  std::unique_ptr<CounterSlot> counters_;  // nullptr: the NIC counts for itself
  std::unique_ptr<nic::Nic> nic_;
  const std::function<void()> flush_all_ = [this] { flush(); };
  // transmit() looks at messages only until then, that many times.
  Nanos quiet_until_ = INT64_MIN;
  unsigned looks_in_ = 0;
};

}  // namespace verbs::soft::host
