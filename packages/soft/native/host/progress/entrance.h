// The way of other devices of this process into this one, and the lock that both use. It outlives the device.
#pragma once

#include "host/progress/device_lock.h"
#include "link/neighbour.h"

namespace verbs::soft::host {

class Entrance final : public link::Neighbour {
 public:
  nic::Core* enter() override {
    if (!lock.try_join()) return nullptr;
    if (core_ != nullptr) return core_;
    lock.part();
    return nullptr;
  }
  void leave() override { lock.part(); }

  // From now on others enter; with nullptr they do not any more. Under the lock.
  void lead_to(nic::Core* core) { core_ = core; }

  DeviceLock lock;

 private:
  nic::Core* core_ = nullptr;
};

}  // namespace verbs::soft::host
