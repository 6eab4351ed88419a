#include "host/adapter/adapter.h"

#include <sched.h>

#include <cstring>
#include <mutex>

#include "host/error.h"

namespace verbs::soft::host {

int Adapter::open(const DeviceConfig& config, std::uint64_t guid, const FrameHook& hook,
                  std::vector<FollowedCounter> followed, std::unique_ptr<Adapter>* adapter) {
  std::unique_ptr<Adapter> opened(new Adapter);
  DeviceCore& core = opened->core;
  if (const int error = core.engine.open_ports(config, hook, [&core] { core.progress.wake(); })) return error;
  if (!config.capture.path.empty()) {
    const std::string path = capture_path(config.capture.path, config.name);
    if (const int error = opened->instruments.start_capture(path, config.capture)) return error;
  }
  core.engine.make_nic(config, guid, hook, std::move(followed), opened->events);
  if (const int error = core.progress.start(core.engine.sockets())) {
    return fail(error, "device " + config.name + ": its helper thread cannot be started: " + std::strerror(error));
  }
  *adapter = std::move(opened);
  return 0;
}

Adapter::~Adapter() {
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

}  // namespace verbs::soft::host
