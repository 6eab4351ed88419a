// A device in operation, from its first open to its last close. Each part has one job and works on the core.
#pragma once

#include <memory>

#include "host/adapter/data_path.h"
#include "host/adapter/device_core.h"
#include "host/adapter/event_router.h"
#include "host/adapter/event_waits.h"
#include "host/adapter/instruments.h"
#include "host/adapter/model_access.h"
#include "host/adapter/multicast.h"
#include "host/adapter/port_control.h"

namespace verbs::soft::host {

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
  Adapter() = default;
};

}  // namespace verbs::soft::host
