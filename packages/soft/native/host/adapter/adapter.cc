#include "host/adapter/adapter.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/error.h"

namespace verbs::soft::host {

namespace {

constexpr std::size_t kReceiveBudget = 32;
// Rounds of pump() in one call of the application: enough for whole windows, not for ever.
constexpr int kPumpRounds = 8;
constexpr int kDrainRounds = 256;  // more than a queue holds

class PortReceiver final : public link::Receiver {
 public:
  PortReceiver(nic::Nic& nic, std::uint8_t port_num, Nanos now) : nic_(nic), port_num_(port_num), now_(now) {}
  void deliver(std::span<const std::uint8_t> frame) override { nic_.deliver(port_num_, frame, now_); }

 private:
  nic::Nic& nic_;
  std::uint8_t port_num_;
  Nanos now_;
};

}  // namespace

int Adapter::open(const DeviceConfig& config, std::uint64_t guid, const FrameHook& hook,
                  std::unique_ptr<Adapter>* adapter) {
  std::unique_ptr<Adapter> opened(new Adapter);
  if (const int error = opened->open_ports(config, hook)) return error;
  nic::NicConfig nic{.guid = guid,
                     .limits = config.limits,
                     .ports = {},
                     .fills_checksums = opened->raw_ && (hook.model->raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM) != 0,
                     .steering = opened->raw_.get()};
  for (std::size_t i = 0; i < opened->ports_.size(); ++i) {
    PortStack& port = *opened->ports_[i];
    const PortState& state = config.port_states.at(i);
    nic.ports.push_back({.transmitter = &port,
                         .gids = port.gids(),
                         .max_mtu = IBV_MTU_4096,
                         .active_mtu = state.mtu,
                         .up = state.up,
                         .frames = opened->raw_ ? &opened->raw_->port(i) : nullptr});
  }
  opened->nic_ = std::make_unique<nic::Nic>(std::move(nic), static_cast<nic::EventSink&>(*opened));
  if (opened->raw_) opened->raw_->attach(*opened->nic_);
  if (const int error = opened->progress_.start(opened->sockets())) {
    return fail(error, "device " + config.name + ": its helper thread cannot be started: " + std::strerror(error));
  }
  *adapter = std::move(opened);
  return 0;
}

int Adapter::open_ports(const DeviceConfig& config, const FrameHook& hook) {
  for (int port_num = 1; port_num <= config.ports; ++port_num) {
    const PortSetup setup{
        .config = config, .port_num = static_cast<std::uint8_t>(port_num), .hook = hook, .notify = [this] {
          progress_.wake();
        }};
    std::unique_ptr<PortStack> port;
    if (const int error = PortStack::open(setup, &port)) return error;
    ports_.push_back(std::move(port));
  }
  if (hook.has_raw_packets()) {
    if (const int error = RawPackets::open(config, hook, [this] { progress_.wake(); }, &raw_)) return error;
  }
  if (config.capture.path.empty()) return 0;
  return start_capture(capture_path(config.capture.path, config.name), config.capture);
}

std::vector<int> Adapter::sockets() const {
  std::vector<int> all;
  for (const auto& port : ports_) port->add_sockets(&all);
  if (raw_) raw_->add_sockets(&all);
  return all;
}

Adapter::~Adapter() {
  progress_.stop();
  if (nic_) transmit(now());
}

int Adapter::refuse_inherited() const {
  if (!inherited()) return 0;
  return fail(EIO,
              "this process was forked from the one that opened the device, and the device stayed with the parent; "
              "open it again in the child");
}

int Adapter::lock() {
  if (const int error = refuse_inherited()) return error;
  lock_.lock();
  if (!raw_) return 0;
  // What has arrived meets the tables as they are, before they change or their counters are read.
  const Nanos time = now();
  for (int round = 0; round < kDrainRounds && receive(time); ++round) continue;
  transmit(time);
  settle();
  return 0;
}

void Adapter::settle() {
  if (progress_.ticking()) return;
  progress_.expect(has_output() ? 0 : next_deadline());
}

int Adapter::poll(nic::Cq* cq, int count, ibv_wc* wc) {
  if (inherited()) return -refuse_inherited();
  lock_.lock_after_others();
  const std::lock_guard guard(lock_, std::adopt_lock);
  progress_.note_poll();
  const int found = nic_->poll_cq(cq, count, wc);
  if (found != 0) return found;
  fill(cq);
  return nic_->poll_cq(cq, count, wc);
}

int Adapter::first_completion(nic::Cq* cq, nic::Completion* completion) {
  if (inherited()) return refuse_inherited();
  lock_.lock_after_others();
  const std::lock_guard guard(lock_, std::adopt_lock);
  progress_.note_poll();
  if (nic_->take_completion(cq, completion)) return 0;
  fill(cq);
  return nic_->take_completion(cq, completion) ? 0 : ENOENT;
}

int Adapter::next_completion(nic::Cq* cq, nic::Completion* completion) {
  if (inherited()) return refuse_inherited();
  const std::lock_guard guard(lock_);
  return nic_->take_completion(cq, completion) ? 0 : ENOENT;
}

// Somebody polled an empty queue: makes progress.
void Adapter::fill(nic::Cq* cq) {
  const Nanos time = now();
  const bool had_output = nic_->has_output();
  if (!std::exchange(static_cast<EventTarget*>(nic::owner_of(cq))->packets_wake, false)) receive(time);
  // The acknowledgement of what just arrived goes out with the caller's answer or at its next empty poll, unless nobody
  // would notice if neither came.
  if (nic::pending_of(cq) == 0 || had_output || !progress_.ticking()) {
    transmit(time);
    settle();
  }
}

// What is posted to a QP in the error state completes at once, without progress that would set the time.
void Adapter::stamp_flushed(const nic::Qp* qp) {
  if (nic::qp_state(qp) == IBV_QPS_ERR) nic_->set_time(now());
}

int Adapter::post_send(nic::Qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  if (const int error = refuse_inherited()) {
    if (bad_wr) *bad_wr = wr;
    return error;
  }
  const std::lock_guard guard(lock_);
  stamp_flushed(qp);
  const int error = nic_->post_send(qp, wr, bad_wr);
  transmit(now());
  settle();
  return error;
}

int Adapter::post_batch(nic::Qp* qp, ibv_send_wr* wr) {
  if (const int error = refuse_inherited()) return error;
  const std::lock_guard guard(lock_);
  stamp_flushed(qp);
  const int error = nic_->post_batch(qp, wr);
  transmit(now());
  settle();
  return error;
}

int Adapter::post_recv(nic::Qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  if (const int error = refuse_inherited()) {
    if (bad_wr) *bad_wr = wr;
    return error;
  }
  const std::lock_guard guard(lock_);
  stamp_flushed(qp);
  const int error = nic_->post_recv(qp, wr, bad_wr);
  // A receive sends nothing of its own. What waits is the acknowledgement of what poll() has just found, which better
  // goes out with the caller's answer.
  if (nic_->has_output() && !progress_.ticking()) {
    transmit(now());
    settle();
  }
  return error;
}

// A peer that was told to try again does so by its own timer: nothing is to be sent.
int Adapter::post_srq_recv(nic::Srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  if (const int error = refuse_inherited()) {
    if (bad_wr) *bad_wr = wr;
    return error;
  }
  const std::lock_guard guard(lock_);
  return nic_->post_srq_recv(srq, wr, bad_wr);
}

int Adapter::req_notify(nic::Cq* cq, bool solicited_only, const CompletionChannel* channel) {
  if (const int error = refuse_inherited()) return error;
  const std::lock_guard guard(lock_);
  const int error = nic_->req_notify_cq(cq, solicited_only);
  static_cast<EventTarget*>(nic::owner_of(cq))->packets_wake = channel && channel->wait_set.attached();
  if (channel && !channel->waited_inline && !progress_.has_waiter()) progress_.note_armed();
  return error;
}

int Adapter::open_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel) {
  if (const int error = refuse_inherited()) return error;
  const std::lock_guard guard(lock_);
  if (port_num < 1 || port_num > ports_.size()) return fail(EINVAL, "there is no port " + std::to_string(port_num));
  if (const int error = ports_[port_num - 1u]->listen(*tunnel)) return error;
  nic_->open_tunnel(port_num, tunnel);
  return 0;
}

void Adapter::close_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel) {
  if (inherited()) return;
  const std::lock_guard guard(lock_);
  transmit(now());  // an acknowledgement that is due goes out before its way is closed
  tunnel->open = false;
  nic_->close_tunnel(port_num, tunnel);
  ports_[port_num - 1u]->unlisten(*tunnel);
}

bool Adapter::receive(Nanos time) {
  bool more = false;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    ports_[i]->advance(time);
    PortReceiver receiver(*nic_, static_cast<std::uint8_t>(i + 1), time);
    more |= ports_[i]->receive(receiver, kReceiveBudget) >= kReceiveBudget;
  }
  if (raw_) {
    raw_->advance(time);
    more |= raw_->receive(time, kReceiveBudget);
  }
  return more;
}

bool Adapter::has_output() const { return nic_->has_output(); }

bool Adapter::transmit(Nanos time) {
  for (const auto& port : ports_) port->advance(time);
  if (raw_) raw_->advance(time);
  bool more = nic_->has_output() || nic_->next_deadline() <= time;
  for (int round = 0; more && round < kPumpRounds; ++round) {
    more = !nic_->pump(time);
    for (const auto& port : ports_) port->flush();
    if (raw_) raw_->flush();
  }
  return more;
}

Nanos Adapter::next_deadline() const {
  Nanos deadline = nic_->next_deadline();
  for (const auto& port : ports_) deadline = std::min(deadline, port->next_deadline());
  return raw_ ? std::min(deadline, raw_->next_deadline()) : deadline;
}

void Adapter::idle() {
  for (const auto& port : ports_) port->flush_capture();
}

int Adapter::start_capture(const std::string& path, const CaptureConfig& capture) {
  const std::lock_guard guard(lock_);
  if (raw_) raw_->stop_capture();  // lets go of the old file
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    // A device with several ports writes a file for each; the first has the name that was asked for.
    const std::string file = i == 0 ? path : path + "." + std::to_string(i + 1);
    const int error = ports_[i]->start_capture(file, capture);
    if (error != 0) return fail(error, "the capture file " + file + " cannot be written: " + std::strerror(error));
    if (raw_) raw_->start_capture(i, ports_[i]->capture_writer());
  }
  return 0;
}

int Adapter::stop_capture() {
  const std::lock_guard guard(lock_);
  int error = 0;
  if (raw_) raw_->stop_capture();
  for (const auto& port : ports_) {
    const int ended = port->stop_capture();
    if (error == 0) error = ended;
  }
  return error == 0 ? 0 : fail(error, std::string("the capture ended early: ") + std::strerror(error));
}

void Adapter::set_faults(const link::FaultPlan& plan) {
  const std::lock_guard guard(lock_);
  for (const auto& port : ports_) port->set_faults(plan);
  if (raw_) raw_->set_faults(plan);
}

void Adapter::flush_at_exit() {
  // Another thread may have been stopped by the exit while it held the lock; then there is nothing to wait for.
  const Nanos give_up = now() + 100 * kMillisecond;
  while (!lock_.try_lock()) {
    if (now() > give_up) return;
    sched_yield();
  }
  transmit(now());
  idle();
  lock_.unlock();
}

}  // namespace verbs::soft::host
