#include "host/adapter/adapter.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "host/error.h"

namespace verbs::soft::host {

int Adapter::open(const DeviceConfig& config, std::uint64_t guid, const FrameHook& hook,
                  std::vector<FollowedCounter> followed, std::unique_ptr<Adapter>* adapter) {
  std::unique_ptr<Adapter> opened(new Adapter(config.name));
  DeviceCore& core = opened->core;
  if (const int error = core.engine.open_ports(config, hook, [&core] { core.progress.wake(); }, core.entrance))
    return error;
  if (!config.capture.path.empty()) {
    const std::string path = capture_path(config.capture.path, config.name);
    if (const int error = opened->instruments.start_capture(path, config.capture)) return error;
  }
  core.engine.make_nic(config, guid, hook, std::move(followed), opened->events);
  core.engine.settle();
  core.let_in(true);
  if (const int error = core.progress.start(core.engine.sockets())) {
    return fail(error, "device " + config.name + ": its helper thread cannot be started: " + std::strerror(error));
  }
  *adapter = std::move(opened);
  return 0;
}

Adapter::~Adapter() {
  core.let_in(false);
  core.progress.stop();
  if (!core.engine.has_nic()) return;
  core.engine.connections().shut_down();
  core.engine.transmit(now());
}

void Adapter::add_context(AsyncQueue* queue) {
  const std::lock_guard guard(core.lock);
  events.add_context(queue);
}

void Adapter::remove_context(AsyncQueue* queue) {
  const std::lock_guard guard(core.lock);
  events.remove_context(queue);
}

void Adapter::flush_at_exit() {
  // The exit may have stopped a thread that holds the lock: then the wait must end.
  const Nanos give_up = now() + 100 * kMillisecond;
  while (!core.lock.try_lock()) {
    if (now() > give_up) return;
    sched_yield();
  }
  core.engine.connections().shut_down();
  core.engine.transmit(now());
  core.engine.idle();
  core.lock.unlock();
}

namespace {

constexpr int kDrainRounds = 256;  // more than a frame queue holds

}  // namespace

int ModelAccess::open_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  if (port_num < 1 || port_num > core_.engine.ports().size()) {
    return fail(EINVAL, "there is no port " + std::to_string(port_num));
  }
  if (const int error = core_.engine.port(port_num).addresses().listen(*tunnel)) return error;
  core_.nic().ports().open_tunnel(port_num, tunnel);
  return 0;
}

void ModelAccess::close_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel) {
  if (core_.inherited()) return;
  const std::lock_guard guard(core_.lock);
  core_.engine.transmit(now());  // an acknowledgement that is due leaves before the tunnel is closed
  tunnel->open = false;
  core_.nic().ports().close_tunnel(port_num, tunnel);
  core_.engine.port(port_num).addresses().unlisten(*tunnel);
}

int ModelAccess::watch_frames(bool watched) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  // What is due leaves as it was before.
  core_.engine.transmit(now());
  for (const auto& port : core_.engine.ports()) {
    if (const int error = port->watch(watched)) return error;
  }
  return 0;
}

int ModelAccess::lock() {
  if (const int error = core_.reject_inherited()) return error;
  core_.lock.lock();
  if (!core_.engine.raw()) return 0;
  // Frames that have arrived are steered by the tables as they are, before the model changes them or reads counters.
  const Nanos time = now();
  for (int round = 0; round < kDrainRounds && core_.engine.receive(time); ++round) continue;
  core_.transmit(time);
  return 0;
}

int ModelAccess::deliver_frame(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
  return core_.engine.raw() ? core_.engine.raw()->deliver(qp, frame, delivery) : EINVAL;
}

}  // namespace verbs::soft::host
