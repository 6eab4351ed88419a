#include "host/adapter/packet_engine.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "host/adapter/counters.h"
#include "host/error.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

namespace {

constexpr std::size_t kReceiveBudget = 32;  // frames of each port in one call
// Rounds of pump() in one call of the application: enough for whole windows, and bounded.
constexpr int kPumpRounds = 8;
// Calls of transmit() in which only messages leave, between two looks at all that may be due.
constexpr unsigned kLookEvery = 16;

class PortReceiver final : public link::Receiver {
 public:
  // `flush`: of all ports, since a queue pair of any may have something to send.
  PortReceiver(nic::Nic& nic, const std::function<void()>& flush, std::uint8_t port_num, Nanos now)
      : nic_(nic), flush_(flush), port_num_(port_num), now_(now) {}
  void deliver(std::span<const std::uint8_t> frame) override { hand_over(frame, link::FrameForm::kSealed); }
  void deliver_unsealed(std::span<const std::uint8_t> frame) override { hand_over(frame, link::FrameForm::kUnsealed); }
  void deliver_referring(std::span<const std::uint8_t> frame, link::SenderMemory& memory) override {
    contain([&] { return nic_.ingress().deliver_referring(port_num_, frame, now_, memory), 0; }, [](int) { return 0; });
    // The sender makes the next message while this end copies what has come already.
    contain([&] { return nic_.scheduler().pump(now_), flush_(), 0; }, [](int) { return 0; });
  }
  bool deliver_message(const link::Message& message, std::span<const std::uint8_t> payload,
                       const link::MessageEnds& ends) override {
    return contain([&] { return nic_.ingress().deliver_message(port_num_, message, payload, ends, now_); },
                   [](int) { return true; });
  }

  void refuse(const wire::Path& path) override { nic_.ingress().refuse(path, now_); }

 private:
  // A frame that cannot be handled for lack of memory is lost.
  void hand_over(std::span<const std::uint8_t> frame, link::FrameForm form) {
    contain([&] { return nic_.ingress().deliver(port_num_, frame, now_, form), 0; }, [](int) { return 0; });
  }

  nic::Nic& nic_;
  const std::function<void()>& flush_;
  std::uint8_t port_num_;
  Nanos now_;
};

}  // namespace

int PacketEngine::open_ports(const DeviceConfig& config, const FrameHook& hook, const std::function<void()>& notify,
                             std::shared_ptr<link::Neighbour> entrance) {
  entrance_ = std::move(entrance);
  // A tunnel hides the queue pair number of its packets, and a model that rewrites frames may, so that such a device
  // has its addresses for itself. So has one that cannot have the names of a range's sockets.
  const bool hides = hook.changes_frames() || (hook.model && hook.model->tunnels);
  const bool shares = config.reach != Reach::kProcess && !hides;
  if (shares && link::NumberRanges::claim(&numbers_) == EADDRINUSE) {
    return fail(EADDRINUSE, "device " + config.name + ": other devices have all queue pair numbers; close some");
  }
  for (int port_num = 1; port_num <= config.ports; ++port_num) {
    const PortSetup setup{.config = config,
                          .port_num = static_cast<std::uint8_t>(port_num),
                          .hook = hook,
                          .notify = notify,
                          .entrance = entrance_,
                          .offered = &offered_,
                          .numbers = numbers_};
    std::unique_ptr<PortStack> port;
    if (const int error = PortStack::open(setup, &port)) return error;
    ports_.push_back(std::move(port));
  }
  return hook.has_raw_packets() ? RawPackets::open(config, hook, notify, &raw_) : 0;
}

void PacketEngine::make_nic(const DeviceConfig& config, std::uint64_t guid, const FrameHook& hook,
                            std::vector<FollowedCounter> followed, nic::EventSink& events) {
  const auto others = [this, all = std::move(followed)](const CounterSlot::Counter& counter) {
    const LinkCounters links = link_counters();
    links.report(counter);
    if (raw_) links.report_switch(counter);
    for (const FollowedCounter& each : all) counter(each.name, *each.value);
  };
  counters_ = CounterSlot::claim(config.name, names_in_order(raw_ != nullptr), others);
  // The first 12 bits of a connection's number are those of the queue pair numbers.
  const bool shares = !numbers_->has_all();
  management_ = std::make_unique<Management>(shares ? std::optional(base() << 8) : std::nullopt);
  nic::NicConfig nic{
      .guid = guid,
      .limits = config.limits,
      .rules = config.rules,
      .ports = {},
      .fills_checksums = hook.steers() && (hook.model->raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM) != 0,
      .steering = raw_.get(),
      .mads = management_.get(),
      .numbers = shares ? this : nullptr,
      .offered = &offered_,
      .self = entrance_.get(),
      .counters = counters_ ? counters_->counters() : nullptr};
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    PortStack& port = *ports_[i];
    const PortState& state = config.port_states.at(i);
    nic.ports.push_back({.transmitter = &port,
                         .gids = port.addresses().gids(),
                         .max_mtu = IBV_MTU_4096,
                         .active_mtu = state.mtu,
                         .up = state.up,
                         .frames = raw_ ? &raw_->port(i) : nullptr,
                         .strict = config.rules.strict,
                         .management = true,
                         .gid_shape = config.gid_shape,
                         .guid = guid + i});
  }
  nic_ = std::make_unique<nic::Nic>(std::move(nic), events);
  management_->attach(*nic_, ports_);
  if (raw_) raw_->attach(*nic_);
}

void PacketEngine::settle() {
  constexpr Nanos kPatience = 30 * kMillisecond;
  const auto is_settled = [this] {
    return std::ranges::all_of(ports_, [](const auto& port) { return port->addresses().is_settled(); });
  };
  const Nanos end = now() + kPatience;
  while (!is_settled() && now() < end) {
    prepare_sleep();
    if (receive(now())) continue;
    std::vector<pollfd> waiting;
    for (const int socket : sockets()) waiting.push_back({socket, POLLIN, 0});
    poll(waiting.data(), waiting.size(), 1);
  }
  for (const auto& port : ports_) port->addresses().give_up_waiting();
}

LinkCounters PacketEngine::link_counters() const {
  LinkCounters links;
  for (const auto& port : ports_) port->count(&links);
  if (raw_) raw_->count(&links);
  return links;
}

std::vector<int> PacketEngine::sockets() const {
  std::vector<int> all;
  add_sockets(&all);
  return all;
}

void PacketEngine::add_sockets(std::vector<int>* all) const {
  for (const auto& port : ports_) port->addresses().add_sockets(all);
  if (raw_) raw_->add_sockets(all);
}

bool PacketEngine::extend_to(std::uint32_t number) {
  const link::Range wanted = link::range_of_number(number);
  if (numbers_->owns(wanted)) return true;
  if (wanted != numbers_->last() + 1 || numbers_->claim_next() != 0) return false;
  // A peer that does not find them uses the network.
  for (const auto& port : ports_) (void)port->addresses().serve(wanted);
  return true;
}

int PacketEngine::choose(std::uint32_t number) {
  const link::Range range = link::range_of_number(number);
  if (numbers_->owns(range)) return 0;
  for (const auto& port : ports_) {
    if (const int error = port->addresses().serve(range)) return error;
  }
  numbers_->add(range);
  return 0;
}

bool PacketEngine::receive(Nanos now) {
  // Never fails: work for which there is no memory is done later, or its frame is lost.
  const auto work = [&] {
    bool more = false;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      ports_[i]->advance(now);
      PortReceiver receiver(*nic_, flush_all_, static_cast<std::uint8_t>(i + 1), now);
      more |= ports_[i]->receive(receiver, kReceiveBudget) >= kReceiveBudget;
    }
    if (RawPackets* raw = raw_in_use()) {
      raw->advance(now);
      more |= raw->receive(now, kReceiveBudget);
    }
    return more;
  };
  return contain(work, [](int) { return false; });
}

bool PacketEngine::has_output() const { return nic_->scheduler().has_output() || management_->has_output(); }

void PacketEngine::flush() {
  looks_in_ = 0;
  for (const auto& port : ports_) port->flush();
  if (RawPackets* raw = raw_in_use()) raw->flush();
}

// Looks at all that may be due.
bool PacketEngine::transmit_all(Nanos now) {
  for (const auto& port : ports_) port->advance(now);
  if (RawPackets* raw = raw_in_use()) raw->advance(now);
  management_->manager().advance(now);
  if (management_->take_output()) flush();
  bool more = nic_->scheduler().has_output() || nic_->scheduler().next_deadline() <= now;
  for (int round = 0; more && round < kPumpRounds; ++round) {
    more = !nic_->scheduler().pump(now);
    flush();
  }
  // Frames that wait for room at a peer have a deadline, and are looked at each time.
  quiet_until_ = others_deadline();
  looks_in_ = ports_wait() ? 0 : kLookEvery;
  return more;
}

bool PacketEngine::transmit(Nanos now) {
  // Never fails: work for which there is no memory is done later, or its frame is lost.
  const auto work = [&] {
    // Frames that wait for room at a peer, whose bell may have woken this thread.
    for (const auto& port : ports_) port->relieve();
    const bool quiet = looks_in_ > 0 && raw_in_use() == nullptr && now < quiet_until_ && !management_->has_output();
    if (!quiet || !nic_->scheduler().send_messages(now)) return transmit_all(now);
    --looks_in_;
    return false;
  };
  return contain(work, [](int) { return false; });
}

bool PacketEngine::ports_wait() const {
  return std::ranges::any_of(ports_, [](const auto& port) { return port->next_deadline() != INT64_MAX; });
}

// Of all but the scheduler.
Nanos PacketEngine::others_deadline() const {
  Nanos deadline = management_->manager().next_deadline();
  for (const auto& port : ports_) deadline = std::min(deadline, port->next_deadline());
  const RawPackets* raw = raw_in_use();
  return raw != nullptr ? std::min(deadline, raw->next_deadline()) : deadline;
}

Nanos PacketEngine::next_deadline() const { return std::min(nic_->scheduler().next_deadline(), others_deadline()); }

void PacketEngine::prepare_sleep() {
  for (const auto& port : ports_) port->addresses().prepare_sleep();
}

void PacketEngine::stay_awake() {
  for (const auto& port : ports_) port->addresses().stay_awake();
}

void PacketEngine::mark_inherited() {
  for (const auto& port : ports_) {
    port->abandon_capture();
    port->addresses().abandon();
  }
  numbers_->abandon();
  if (raw_) raw_->mark_inherited();
}

void PacketEngine::idle() {
  for (const auto& port : ports_) port->flush_capture();
  publish();
}

void PacketEngine::publish() {
  if (counters_) counters_->publish();
  // Without memory the table stays as it is until the next change.
  contain([this] { return follow_host(), 0; }, [](int) { return 0; });
}

void PacketEngine::follow_host() {
  if (!nic_) return;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const auto port_num = static_cast<std::uint8_t>(i + 1);
    // A table that is full stays so.
    const auto come = [&](const wire::Gid& gid) {
      std::uint32_t index = 0;
      (void)nic_->ports().add_gid(port_num, gid, &index);
    };
    const auto gone = [&](const wire::Gid& gid) { (void)nic_->ports().remove_gid(port_num, gid); };
    ports_[i]->follow_host(now(), come, gone);
  }
}

bool PacketEngine::take_change() {
  bool changed = false;
  for (const auto& port : ports_) changed = port->take_change() || changed;
  return changed;
}

}  // namespace verbs::soft::host
