// What the state machines of one NIC share: its objects, its ports, its timers and the queue pairs with output.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "nic/nic.h"
#include "nic/objects/ah.h"
#include "nic/objects/cq.h"
#include "nic/objects/mr.h"
#include "nic/objects/mw.h"
#include "nic/objects/pd.h"
#include "nic/objects/qp/qp.h"
#include "nic/objects/srq.h"
#include "nic/objects/xrcd.h"
#include "nic/ports/multicast.h"
#include "nic/ports/port.h"
#include "nic/raw/raw_packet.h"
#include "nic/shared/counters.h"
#include "nic/shared/event.h"
#include "nic/shared/table.h"
#include "nic/shared/timer_heap.h"

namespace verbs::soft::nic {

// 0 and 1 are the management QPs. The kernel's soft-RoCE starts here too.
inline constexpr std::uint32_t kFirstQpn = 17;

// QPs with output, served round robin.
class ActiveList {
 public:
  bool empty() const { return head_ == nullptr; }
  Qp* front() const { return head_; }

  void add(Qp& qp) {
    if (qp.active) return;
    qp.active = true;
    qp.active_next = nullptr;
    qp.active_previous = tail_;
    (tail_ != nullptr ? tail_->active_next : head_) = &qp;
    tail_ = &qp;
  }

  void remove(Qp& qp) {
    if (!qp.active) return;
    qp.active = false;
    (qp.active_previous != nullptr ? qp.active_previous->active_next : head_) = qp.active_next;
    (qp.active_next != nullptr ? qp.active_next->active_previous : tail_) = qp.active_previous;
  }

 private:
  Qp* head_ = nullptr;
  Qp* tail_ = nullptr;
};

struct Core {
  Core(NicConfig nic_config, EventSink& sink);

  Port* port(std::uint8_t number) { return number >= 1 && number <= ports.size() ? &ports[number - 1] : nullptr; }
  // Threads read the clock before they have the lock, so `time` may be earlier than the last one.
  void set_time(Nanos time) { now = std::max(now, time); }
  Port& port_of(const Qp& qp) { return ports[qp.attr.port_num - 1]; }

  NicConfig config;
  EventSink& events;
  Counters counters;
  FrameCounters frame_counters;
  std::vector<Port> ports;
  Table<Pd> pds;
  Table<Cq> cqs;
  Table<Ah> ahs;
  Table<Qp> qps;
  Table<Srq> srqs;
  Table<Xrcd> xrcds;
  MrTable mrs;
  MwTable mws;
  DmPool device_memory;
  MulticastTable multicast;
  FrameBuffer frame;    // the raw packet in the steering's hands
  TimerHeap timers;     // of QPs
  TimerHeap cq_timers;  // of CQs
  ActiveList active;
  Nanos now = 0;  // the time stamp of completions
};

}  // namespace verbs::soft::nic
