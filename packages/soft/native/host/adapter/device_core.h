// The state that all parts of a device in operation share: the device's lock, the packet engine that it guards, the
// progress, and whether the device belongs to the parent of this process.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "host/adapter/packet_engine.h"
#include "host/progress/device_lock.h"
#include "host/progress/entrance.h"
#include "host/progress/progress.h"

namespace verbs::soft::host {

class DeviceCore {
 public:
  DeviceCore() : progress(engine, lock) {}
  DeviceCore(const DeviceCore&) = delete;
  DeviceCore& operator=(const DeviceCore&) = delete;

  // For calls that change the NIC's objects: runs `call(nic, now)`, which returns 0 or an errno value, under the lock.
  // Packets that are due leave before the call, so that an acknowledgement is not lost with its QP, and after it.
  template <typename Call>
  int control(Call&& call) {
    if (const int error = reject_inherited()) return error;
    const std::lock_guard guard(lock);
    const Nanos time = now();
    engine.transmit(time);
    nic().scheduler().set_time(time);
    const int error = call(nic(), time);
    if (engine.take_change()) sockets_changed();
    transmit(time);
    return error;
  }

  // Whether other devices of this process may hand messages to this one.
  void let_in(bool open) {
    const std::lock_guard guard(lock);
    entrance->lead_to(open ? &nic().core() : nullptr);
  }

  // Under the lock: sends the packets that are due, and makes sure that a thread wakes for later ones.
  void transmit(Nanos time) {
    engine.transmit(time);
    schedule();
  }
  void schedule() {
    if (!progress.ticking()) progress.expect(engine.has_output() ? 0 : engine.next_deadline());
  }
  // Under the lock: the sockets of the ports have changed.
  void sockets_changed() { progress.set_sockets(engine.sockets()); }

  // This is a forked child: the addresses, the helper thread and the state of the lock are the parent's.
  void mark_inherited();
  bool inherited() const { return inherited_.load(std::memory_order_relaxed); }
  // 0, or fail()'s EIO in a forked child.
  int reject_inherited() const { return inherited() ? fail_inherited() : 0; }

  nic::Nic& nic() { return engine.nic(); }

  const std::shared_ptr<Entrance> entrance = std::make_shared<Entrance>();
  DeviceLock& lock = entrance->lock;
  Progress progress;  // outlives the engine, whose in-process links notify it until they are gone
  PacketEngine engine;

 private:
  int fail_inherited() const;

  std::atomic<bool> inherited_{false};
};

}  // namespace verbs::soft::host
