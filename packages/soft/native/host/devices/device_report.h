// What a process publishes about an open device.
#pragma once

#include "host/devices/device.h"
#include "host/publication/json.h"

namespace verbs::soft::host {

// Ports, counters and queue pairs. Under the registry's lock; takes the device's for the queue pairs.
void write_report(Json& json, Device& device);

}  // namespace verbs::soft::host
