// The NIC: one RoCE v2 adapter as a pure state machine. It opens no socket, reads no clock and starts no thread: frames
// come in through ingress(), leave through each port's Transmitter, and time is an argument. Its vocabulary is the
// structures of <infiniband/verbs.h>. Not thread-safe: the host holds one lock around a device.
//
// The NIC has parts with a job each, and callers use the part that they need. Calls return 0 or a positive errno value,
// as the verbs do. An object belongs to the NIC that made it. `owner` is a pointer of the caller, which finds it again
// through an event's object.
#pragma once

#include <infiniband/verbs.h>

#include <utility>

#include "nic/core/core.h"
#include "nic/core/explanation.h"
#include "nic/datagram.h"
#include "nic/flow_table.h"
#include "nic/ingress.h"
#include "nic/raw_packets.h"
#include "nic/receive_queues.h"
#include "nic/verbs/data_path.h"
#include "nic/verbs/qp_control.h"
#include "nic/verbs/srq_control.h"

namespace verbs::soft::nic {

// The scheduler: serves the queue pairs with output round robin, and fires the timers.

class Scheduler {
 public:
  explicit Scheduler(Core& core) : core_(core) {}

  // Sends what is due: requests as far as the congestion windows allow, retransmissions and responses. Fires the timers
  // that are due by `now`. Bounded work: false while more could be sent at once. The host flushes the transmitters
  // after it. Queue pairs with a congested peer wait: the port's link wakes the host.
  bool pump(Nanos now);
  // The same where nothing is due but the messages of one queue pair to another process (core/ways.h), which leave at
  // once, or nothing at all. False: something is left for pump().
  bool send_messages(Nanos now);
  // No queue pair has anything to send.
  bool is_idle() const { return core_.active.empty(); }
  // pump() would send something now.
  bool has_output() { return !core_.active.empty() && (!held_ || held_at_ != releases()); }
  // When pump() is needed next if no packet arrives; kNever without timers.
  Nanos next_deadline() const { return std::min(core_.timers.next(), core_.cqs.next_deadline()); }
  // The time of calls that have no time argument. deliver() and pump() set it too.
  void set_time(Nanos now) { core_.set_time(now); }

 private:
  std::size_t serve(Qp& qp, std::size_t budget, Nanos now);
  std::size_t send(Qp& qp, std::size_t budget, Nanos now);
  std::uint64_t relieve();
  // Changes when a held queue pair may send, and when another one has output.
  std::uint64_t releases() { return relieve() + core_.active.additions(); }

  Core& core_;
  bool held_ = false;          // all queue pairs with output wait for congested addresses …
  std::uint64_t held_at_ = 0;  // … since releases() was this
};

class Nic {
 public:
  Nic(NicConfig config, EventSink& events) : core_(std::move(config), events) {}
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  // -- control path: one part for each kind of object
  Ports& ports() { return core_.ports; }
  PdTable& pds() { return core_.pds; }
  MrTable& mrs() { return core_.mrs; }
  MwTable& mws() { return core_.mws; }
  DmPool& device_memory() { return core_.device_memory; }  // for any thread, without the lock
  CqTable& cqs() { return core_.cqs; }
  AhTable& ahs() { return core_.ahs; }
  QpControl& qps() { return qps_; }
  SrqControl& srqs() { return srqs_; }
  XrcdTable& xrcds() { return core_.xrcds; }
  MulticastTable& multicast() { return core_.multicast; }

  // -- data path
  DataPath& data_path() { return data_path_; }
  Ingress& ingress() { return ingress_; }
  Scheduler& scheduler() { return scheduler_; }
  RawPackets& raw_packets() { return raw_packets_; }
  FlowTable& flows() { return flows_; }
  ReceiveQueues& receive_queues() { return receive_queues_; }
  // Sends a management datagram to queue pair 1 of the path's end. The host flushes the transmitters after it.
  void send_mad(std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes) {
    nic::send_mad(core_, port_num, path, bytes);
  }

  // -- reasons
  // A call of the program is refused by the host, or by a part that only says why.
  void explain(Place place, int error, const Why& why, const Qp* qp = nullptr) {
    explain_call(core_, place, error, why, qp);
  }
  const ReasonRing& reasons() const { return core_.reasons; }
  // For its neighbours (link/neighbour.h).
  Core& core() { return core_; }

  // -- the device as a whole
  void query_device(ibv_device_attr* attr) const;
  const Counters& counters() const { return core_.counters; }
  const FrameCounters& frame_counters() const { return core_.frame_counters; }
  // What this NIC has counted: its counters may have begun with the count of another one.
  DeviceCounters counted() const { return difference(core_.all_counters, core_.counted_before); }
  // The device fails: every queue pair goes to the error state and flushes its work. Raises IBV_EVENT_DEVICE_FATAL.
  void fail();

 private:
  Core core_;
  QpControl qps_{core_};
  SrqControl srqs_{core_};
  DataPath data_path_{core_};
  Ingress ingress_{core_};
  Scheduler scheduler_{core_};
  RawPackets raw_packets_{core_};
  FlowTable flows_{core_, raw_packets_};
  ReceiveQueues receive_queues_{core_, qps_};
};

}  // namespace verbs::soft::nic
