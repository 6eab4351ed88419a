#include "host/ethernet/raw_packets.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/error.h"
#include "host/events/completion_channel.h"
#include "host/models/verbs_device.h"
#include "nic/objects/ports.h"

namespace verbs::soft::host {
namespace {

constexpr std::size_t kTapBudget = 64;

class FrameReceiver final : public EthernetPort::Receiver {
 public:
  FrameReceiver(nic::Nic& nic, std::uint8_t port_num, Nanos now) : nic_(nic), port_num_(port_num), now_(now) {}
  void deliver(std::span<const std::uint8_t> frame, bool looped) override {
    nic_.raw_packets().receive(port_num_, frame, looped, now_);
  }

 private:
  nic::Nic& nic_;
  std::uint8_t port_num_;
  Nanos now_;
};

// The device whose model steers a frame on this thread: the model may use that device and no other.
thread_local const RawPackets* steering = nullptr;

class SteeringScope {
 public:
  explicit SteeringScope(const RawPackets* device) { steering = device; }
  ~SteeringScope() { steering = nullptr; }
  SteeringScope(const SteeringScope&) = delete;
  SteeringScope& operator=(const SteeringScope&) = delete;
};

}  // namespace

RawPackets::RawPackets(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& notify)
    : hook_(hook) {
  VerbsDevice& device = verbs_device(hook.device);
  link::Mac mac = device.mac;
  for (int i = 0; i < config.ports; ++i, ++mac.back()) {
    ports_.push_back(std::make_unique<EthernetPort>(mac, config.switch_name, config.learning, notify));
  }
  set_faults(make_faults(config.faults));
  if (!hook.steers()) plug(false);
  device.raw = this;
}

int RawPackets::open(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& notify,
                     std::unique_ptr<RawPackets>* raw) {
  std::unique_ptr<RawPackets> opened(new RawPackets(config, hook, notify));
  if (const int error = opened->open_tap(config, notify)) return error;
  *raw = std::move(opened);
  return 0;
}

int RawPackets::open_tap(const DeviceConfig& config, const std::function<void()>& notify) {
  if (config.tap.empty()) return 0;
  const std::uint32_t mtu = nic::ethernet_mtu(config.port_states.front().mtu);
  const int error = link::Tap::open(config.tap, mtu, link::EthernetSwitch::named(config.switch_name), notify, &tap_);
  if (error == 0) return 0;
  const std::string what = "device " + config.name + ": the network interface " + config.tap + " cannot be created: ";
  switch (error) {
    case EPERM:
    case EACCES:
      return fail(error, what + "this process lacks the capability CAP_NET_ADMIN in its network namespace");
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return fail(error, what + "there is no /dev/net/tun; load the kernel's module tun, or give the container that " +
                             "device");
    case EBUSY:
    case EEXIST:
      return fail(error, what + "there is one of that name; choose another with tap=");
    default:
      return fail(error, what + std::strerror(error));
  }
}

RawPackets::~RawPackets() { verbs_device(hook_.device).raw = nullptr; }

void RawPackets::add_sockets(std::vector<int>* sockets) const {
  if (tap_) sockets->push_back(tap_->fd());
}

void RawPackets::start_capture(std::size_t index, std::shared_ptr<link::PcapngWriter> writer) {
  ports_[index]->stack().start_capture(std::move(writer), link::CaptureInterface::kEthernet);
}

void RawPackets::stop_capture() {
  for (const auto& port : ports_) port->stack().stop_capture();
}

std::vector<std::unique_ptr<link::FaultLink>> RawPackets::make_faults(const link::FaultPlan& plan) {
  std::vector<std::unique_ptr<link::FaultLink>> made;
  for (const auto& port : ports_) made.push_back(port->stack().make_faults(plan));
  return made;
}

void RawPackets::set_faults(std::vector<std::unique_ptr<link::FaultLink>> faults) {
  for (std::size_t i = 0; i < ports_.size(); ++i) ports_[i]->stack().set_faults(std::move(faults[i]));
}

void RawPackets::count_rules(std::vector<link::RuleCounters>* sums) const {
  for (const auto& port : ports_) port->stack().count_rules(sums);
}

void RawPackets::advance(Nanos now) {
  for (const auto& port : ports_) port->advance(now);
}

Nanos RawPackets::next_deadline() const {
  Nanos deadline = INT64_MAX;
  for (const auto& port : ports_) deadline = std::min(deadline, port->next_deadline());
  return deadline;
}

void RawPackets::mark_inherited() {
  if (tap_) tap_->forget();
}

void RawPackets::flush() {
  if (tap_) tap_->write_frames(kTapBudget);
}

bool RawPackets::receive(Nanos now, std::size_t budget) {
  bool more = tap_ && tap_->relay(budget);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    FrameReceiver receiver(*nic_, static_cast<std::uint8_t>(i + 1), now);
    more |= ports_[i]->receive(receiver, budget) >= budget;
  }
  return more;
}

void RawPackets::count(LinkCounters* counters) const {
  for (const auto& port : ports_) port->count(counters);
  if (tap_) counters->add(tap_->counters());
}

int RawPackets::transmit(std::uint8_t port_num, const verbs_soft_frame& frame) {
  return steering == this ? nic_->raw_packets().transmit(port_num, frame) : EPERM;
}

int RawPackets::deliver(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
  return steering == this ? nic_->raw_packets().deliver(qp, frame, delivery) : EPERM;
}

void RawPackets::plug(bool plugged) {
  for (const auto& port : ports_) port->set_plugged(plugged);
  plugged_ = plugged;
}

void RawPackets::use(bool any) {
  if (!hook_.steers()) plug(any);
}

void RawPackets::send(std::uint8_t port_num, nic::Qp* qp, verbs_soft_frame* frame) {
  if (!hook_.steers()) {
    nic_->raw_packets().transmit(port_num, *frame);
    return;
  }
  auto* ibv = static_cast<ibv_qp*>(static_cast<EventTarget*>(qp->owner)->ibv);
  const SteeringScope scope(this);
  hook_.model->raw_send(hook_.model->data, hook_.device, port_num, ibv, frame);
}

void RawPackets::receive(std::uint8_t port_num, verbs_soft_frame* frame) {
  if (!hook_.steers()) {
    nic_->flows().receive(port_num, *frame);
    return;
  }
  const SteeringScope scope(this);
  hook_.model->raw_receive(hook_.model->data, hook_.device, port_num, frame);
}

}  // namespace verbs::soft::host
