// The names of a device's counters.
#pragma once

#include <vector>

#include "host/ports/link_counters.h"
#include "nic/shared/counters.h"

namespace verbs::soft::host {

using Counter = LinkCounters::Counter;

// Calls `counter` with the name and value of each counter: of the NIC by the kernel's soft-RoCE names, of the links
// with the prefixes "link_" and "fault_".
void report(const nic::Counters& counters, const LinkCounters& links, const Counter& counter);
// The same for raw packets.
void report(const nic::FrameCounters& counters, const LinkCounters& links, const Counter& counter);

// The names of the NIC's own counters, in the order of nic::DeviceCounters; nullptr for those of raw packets where the
// device has none.
std::vector<const char*> names_in_order(bool has_frames);

}  // namespace verbs::soft::host
