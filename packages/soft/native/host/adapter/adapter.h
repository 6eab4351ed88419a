// A device in operation, from its first open to its last close. Each part has one job and works on the core.
#pragma once

#include <memory>
#include <string>

#include "host/adapter/counters.h"
#include "host/adapter/data_path.h"
#include "host/adapter/device_core.h"
#include "host/adapter/events.h"
#include "host/adapter/ports.h"
#include "wire/tunnel.h"

namespace verbs::soft::host {

// Access of a vendor's model to a device in operation: tunnels, raw packets, and the lock around the tables of its
// steering. 0, or fail()'s errno.

class ModelAccess {
 public:
  explicit ModelAccess(DeviceCore& core) : core_(core) {}

  int open_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel);
  // Packets of queue pairs that still use the tunnel are dropped.
  void close_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel);

  // As the extension's function of that name.
  int watch_frames(bool watched);
  // Between these two the model changes what its steering reads.
  int lock();
  void unlock() { core_.lock.unlock(); }
  // Under the lock: gives a raw packet to a queue pair. As the extension's function of that name.
  int deliver_frame(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery);

 private:
  DeviceCore& core_;
};

class Adapter final {
 public:
  // Claims the addresses and starts the helper thread. 0, or fail()'s errno.
  // `followed`: counters of the model.
  static int open(const DeviceConfig& config, std::uint64_t guid, const FrameHook& hook,
                  std::vector<FollowedCounter> followed, std::unique_ptr<Adapter>* adapter);
  ~Adapter();

  // A context receives the events of ports and of the device.
  void add_context(AsyncQueue* queue);
  void remove_context(AsyncQueue* queue);

  // The process exits: sends the packets that are due, unless a stopped thread holds the lock.
  void flush_at_exit();

  EventRouter events;  // under the lock; outlives the NIC, which raises the events
  DeviceCore core;

  DataPath data_path{core};
  EventWaits event_waits{core};
  Multicast multicast{core};
  PortControl port_control{core};
  ModelAccess model_access{core};
  Instruments instruments{core};

 private:
  explicit Adapter(const std::string& device) : events(device) {}
};

}  // namespace verbs::soft::host
