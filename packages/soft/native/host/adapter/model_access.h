// Access of a vendor's model to a device in operation: tunnels, raw packets, and the lock around the tables of its
// steering. 0, or fail()'s errno.
#pragma once

#include <memory>

#include "host/adapter/device_core.h"
#include "wire/tunnel.h"

namespace verbs::soft::host {

class ModelAccess {
 public:
  explicit ModelAccess(DeviceCore& core) : core_(core) {}

  int open_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel);
  // Packets of queue pairs that still use the tunnel are dropped.
  void close_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel);

  // Between these two the model changes what its steering reads.
  int lock();
  void unlock() { core_.lock.unlock(); }
  // Under the lock: gives a raw packet to a queue pair. As the extension's function of that name.
  int deliver_frame(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery);

 private:
  DeviceCore& core_;
};

}  // namespace verbs::soft::host
