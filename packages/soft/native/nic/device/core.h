// What the state machines of one NIC share: its objects, its ports, its timers, and who has something to send.
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

inline constexpr std::uint32_t kFirstQpn =
    17;  // 0 and 1 are the management QPs; the kernel's soft-RoCE starts here too

// QPs with output, served in turn.
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
  // Threads read the clock before they have the lock, so that it may seem to go back.
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
  FrameBuffer frame;    // the raw packet that the steering is busy with
  TimerHeap timers;     // of QPs
  TimerHeap cq_timers;  // of CQs
  ActiveList active;
  Nanos now = 0;  // what completions are stamped with
};

// Puts a QP into the error state: everything in its queues completes as flushed, in order. Sends what it owes first.
void enter_error(Core& core, Qp& qp);
// The same, telling the application that it happened (IBV_EVENT_QP_FATAL, _REQ_ERR or _ACCESS_ERR).
void enter_error(Core& core, Qp& qp, ibv_event_type event);
// Fails the oldest send request. That is the end of a reliable QP; any other goes on receiving (SQE) until the
// application moves it back to RTS (IBTA 10.3.1.6).
void fail_send(Core& core, Qp& qp, ibv_wc_status status);
// Completes what is posted as flushed.
void flush_sends(Core& core, Qp& qp);
void flush_receives(Core& core, Qp& qp);

}  // namespace verbs::soft::nic
