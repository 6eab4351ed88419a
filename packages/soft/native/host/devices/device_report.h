// What a process publishes about an open device.
#pragma once

#include <vector>

#include "host/devices/device.h"
#include "host/publication/publisher.h"

namespace verbs::soft::host {

// Ports, counters and queue pairs. Under the registry's lock; takes the device's for the queue pairs.
void write_report(Json& json, Device& device);

// The last events of a device, without any if it is not open. Locks as above.
std::vector<nic::ReasonEvent> copy_reasons(Device& device);

// What rdma(8) lists of the device beside queue pairs: its protection domains, completion queues and memory regions.
// Locks as above.
void write_objects(Json& json, Device& device);

}  // namespace verbs::soft::host
