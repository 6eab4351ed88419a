// A device in operation: its NIC, the links of its ports, the lock around them and the progress. Lives from the first
// open of a device to the last close.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "host/configuration/configuration.h"
#include "host/ethernet/raw_packets.h"
#include "host/events/async_queue.h"
#include "host/events/completion_channel.h"
#include "host/ports/port_stack.h"
#include "host/progress/progress.h"
#include "nic/nic.h"
#include "nic/shared/counters.h"

namespace verbs::soft::host {

class Adapter final : private nic::EventSink, private Engine {
 public:
  using Counter = LinkCounters::Counter;

  // Claims the addresses and starts the helper thread. 0, or fail()'s errno.
  static int open(const DeviceConfig& config, std::uint64_t guid, const FrameHook& hook,
                  std::unique_ptr<Adapter>* adapter);
  ~Adapter();

  // -- data path
  int poll(nic::Cq* cq, int count, ibv_wc* wc);  // as ibv_poll_cq
  // One completion. ENOENT when there is none; only the first of a series makes progress to get one.
  int first_completion(nic::Cq* cq, nic::Completion* completion);
  int next_completion(nic::Cq* cq, nic::Completion* completion);
  int post_send(nic::Qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);
  // All of the requests or, with an error, none.
  int post_batch(nic::Qp* qp, ibv_send_wr* wr);
  int post_recv(nic::Qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int post_srq_recv(nic::Srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int req_notify(nic::Cq* cq, bool solicited_only, const CompletionChannel* channel);

  // -- control path: `call(nic, now)` returns 0 or an errno value and runs under the lock. What is due to be sent goes
  // out before it, so that an acknowledgement is not lost with its QP, and after it.
  template <typename Call>
  int control(Call&& call) {
    if (const int error = refuse_inherited()) return error;
    const std::lock_guard guard(lock_);
    const Nanos time = now();
    transmit(time);
    nic_->set_time(time);
    const int error = call(*nic_, time);
    transmit(time);
    settle();
    return error;
  }

  // Runs `call()`, which makes no progress and changes nothing of the NIC, under the lock.
  template <typename Call>
  void locked(Call&& call) {
    const std::lock_guard guard(lock_);
    call();
  }
  // Under the lock: gives a raw packet to a queue pair. As the extension's function of that name.
  int deliver_frame(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
    return raw_ ? raw_->deliver(qp, frame, delivery) : EINVAL;
  }
  // What a model's steering reads is changed between these two. 0, or fail()'s errno.
  int lock();
  void unlock() { lock_.unlock(); }

  // 0, or fail()'s errno. A closed tunnel's packets go nowhere.
  int open_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel);
  void close_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel);

  nic::DmPool& device_memory() { return nic_->device_memory(); }

  // What never changes while the device is open: needs no lock, and a forked child may ask too.
  void query_device(ibv_device_attr* attr) const { nic_->query_device(attr); }
  // Multicast groups of UD queue pairs: 0 or errno as the verbs give it.
  int attach_mcast(nic::Qp* qp, const wire::Gid& group);
  int detach_mcast(nic::Qp* qp, const wire::Gid& group);
  void detach_all(nic::Qp* qp);

  // Blocks until `source` has an event, making progress meanwhile. 0 or errno.
  int wait(EventSource& source);
  int wait(CompletionChannel& channel);
  // The next event of a channel that is waited for through its descriptor, which the packet that brings it makes
  // readable from here on; makes progress to get one. 0, EAGAIN if there is none, or another errno.
  int fetch(CompletionChannel& channel, EventTarget** target);
  // An event of the channel was fetched: from here on packets wake whoever waits on its descriptor, if he takes that.
  void attend(CompletionChannel& channel);
  // Before the channel goes.
  void release(CompletionChannel& channel);

  // Contexts hear of the events of the port and the device.
  void add_listener(AsyncQueue* queue);
  void remove_listener(AsyncQueue* queue);

  int start_capture(const std::string& path, const CaptureConfig& capture);
  int stop_capture();
  void set_faults(const link::FaultPlan& plan);
  std::vector<link::RuleCounters> count_rules();
  // -- what happens to a port, as nic::Nic has it. 0, or fail()'s errno.
  int set_link(std::uint8_t port_num, bool up);
  int set_mtu(std::uint8_t port_num, ibv_mtu mtu);
  int add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index);
  int remove_gid(std::uint8_t port_num, const wire::Gid& gid);
  int fail_device();
  void count(const Counter& counter);
  // Names and values; with zeros for a device that was never opened.
  static void tell(const nic::Counters& counters, const LinkCounters& links, const Counter& counter);
  // The same for raw packets.
  static void tell(const nic::FrameCounters& counters, const LinkCounters& links, const Counter& counter);

  // The process is ending: sends what is due, if the lock can be had.
  void flush_at_exit();
  // Nobody is inside the adapter while the process forks.
  void lock_for_fork() { lock_.lock(); }
  void unlock_after_fork() { lock_.unlock(); }
  // This is a forked child: the addresses, the helper thread and the lock's state are the parent's.
  void mark_inherited() {
    inherited_.store(true, std::memory_order_relaxed);
    if (raw_) raw_->mark_inherited();
  }
  bool inherited() const { return inherited_.load(std::memory_order_relaxed); }

 private:
  Adapter() : progress_(*this, lock_) {}

  int open_ports(const DeviceConfig& config, const FrameHook& hook);
  std::vector<int> sockets() const;
  int join(const wire::Gid& group);
  int leave(nic::Qp* qp, const wire::Gid& group);
  int refuse_inherited() const;
  void fill(nic::Cq* cq);
  void stamp_flushed(const nic::Qp* qp);
  void settle();

  // EventSink
  void completion(nic::Cq* cq) override;
  void async(const nic::AsyncEvent& event) override;
  // Engine
  bool receive(Nanos now) override;
  bool has_output() const override;
  bool transmit(Nanos now) override;
  Nanos next_deadline() const override;
  void idle() override;

  DeviceLock lock_;
  Progress progress_;  // before the ports: their in-process links ring it until they are gone
  std::vector<std::unique_ptr<PortStack>> ports_;
  std::unique_ptr<RawPackets> raw_;  // if its model has raw packets
  std::unique_ptr<nic::Nic> nic_;
  std::vector<AsyncQueue*> listeners_;
  std::atomic<bool> inherited_{false};
};

}  // namespace verbs::soft::host
