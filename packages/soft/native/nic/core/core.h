// What all state machines of a NIC share: its configuration, its objects, its timers, and the queue pairs that have
// work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "link/neighbour.h"
#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/core/packet.h"
#include "nic/objects/completion_queue.h"
#include "nic/objects/device_memory.h"
#include "nic/objects/memory_region.h"
#include "nic/objects/memory_window.h"
#include "nic/objects/multicast.h"
#include "nic/objects/ports.h"
#include "nic/objects/protection_domain.h"
#include "nic/objects/queue_pair.h"
#include "nic/objects/shared_receive.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::nic {

// The steering of raw packets: decides where sent frames go and which queue pairs get received ones. The host has it:
// it asks a vendor's model, or the NIC's own flows (nic/flow_table.h).

class Qp;

// Called from inside the NIC's calls. May call transmit() and deliver() of RawPackets and receive() of FlowTable, and
// nothing else of the NIC.
class FrameSteering {
 public:
  virtual void send(std::uint8_t port_num, Qp* qp, verbs_soft_frame* frame) = 0;
  virtual void receive(std::uint8_t port_num, verbs_soft_frame* frame) = 0;
  // Before the first RAW_PACKET queue pair is made, and after the last one is gone.
  virtual void use(bool /*any*/) {}

 protected:
  ~FrameSteering() = default;
};

// What the state machines of one NIC share: its objects, its ports, its timers and the queue pairs with output.

// 0 and 1 are the management QPs. The kernel's soft-RoCE starts here too.
inline constexpr std::uint32_t kFirstQpn = 17;

// QPs with output, served round robin.
class ActiveList {
 public:
  bool empty() const { return head_ == nullptr; }
  std::size_t size() const { return size_; }
  Qp* front() const { return head_; }
  std::uint64_t additions() const { return additions_; }

  void add(Qp& qp) {
    if (qp.active) return;
    qp.active = true;
    qp.active_next = nullptr;
    qp.active_previous = tail_;
    (tail_ != nullptr ? tail_->active_next : head_) = &qp;
    tail_ = &qp;
    ++size_;
    ++additions_;
  }

  void remove(Qp& qp) {
    if (!qp.active) return;
    qp.active = false;
    (qp.active_previous != nullptr ? qp.active_previous->active_next : head_) = qp.active_next;
    (qp.active_next != nullptr ? qp.active_next->active_previous : tail_) = qp.active_previous;
    --size_;
  }

 private:
  Qp* head_ = nullptr;
  Qp* tail_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t additions_ = 0;
};

struct NicConfig {
  std::uint64_t guid = 0;  // host byte order
  Limits limits;
  Rules rules;
  std::vector<PortConfig> ports;      // port_num 1 is ports[0]
  bool fills_checksums = false;       // of raw packets, for IBV_SEND_IP_CSUM
  FrameSteering* steering = nullptr;  // nullptr: the device has no raw packets
  MadSink* mads = nullptr;            // nullptr: management datagrams are dropped
  NumberSource* numbers = nullptr;    // nullptr: all numbers are this NIC's
  link::OfferedMemory* offered = nullptr;
  const link::Neighbour* self = nullptr;  // as others of this process find the NIC
  DeviceCounters* counters = nullptr;     // where it counts on; nullptr: in itself, from 0
};

struct Core {
  Core(NicConfig nic_config, EventSink& sink);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Threads read the clock before they have the lock, so `time` may be earlier than the last one.
  void set_time(Nanos time) { now = std::max(now, time); }
  Port& port_of(const Qp& qp) { return ports[qp.attr.port_num]; }
  // Counts the reason of the event and keeps it.
  [[gnu::cold]] void explain(ReasonEvent event);

  NicConfig config;
  EventSink& events;
  DeviceCounters own_counters;
  DeviceCounters& all_counters;
  const DeviceCounters counted_before;
  Counters& counters;
  FrameCounters& frame_counters;
  ReasonRing reasons;
  std::uint32_t refused_peers = 0;  // of whom the ring knew nothing yet
  Nanos now = 0;                    // the time stamp of completions
  Ports ports;
  PdTable pds;
  CqTable cqs;
  AhTable ahs;
  Table<Qp> qps;
  Table<Srq> srqs;
  XrcdTable xrcds;
  MrTable mrs;
  MwTable mws;
  DmPool device_memory;
  MulticastTable multicast;
  std::uint32_t mad_psn = 0;
  std::uint64_t carried = 0;  // of counters.sent_pkts: those that were messages on their way (link/message.h)
  std::uint32_t raw_qps = 0;  // RAW_PACKET queue pairs
  FrameBuffer frame;          // the raw packet in the steering's hands
  TimerHeap timers;           // of QPs
  ActiveList active;
};

}  // namespace verbs::soft::nic
