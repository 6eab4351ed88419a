#include "host/adapter/device_core.h"

#include <cerrno>

#include "host/error.h"

namespace verbs::soft::host {

void DeviceCore::mark_inherited() {
  inherited_.store(true, std::memory_order_relaxed);
  engine.mark_inherited();
}

int DeviceCore::fail_inherited() const {
  return fail(EIO,
              "this process was forked from the process that opened the device, and the device stays with the parent; "
              "open it again in the child");
}

}  // namespace verbs::soft::host
