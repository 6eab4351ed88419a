// The devices of this process as files on the machine (host/machine), with what differs in this process.
#pragma once

#include <vector>

#include "host/devices/device.h"

namespace verbs::soft::host {

// Under the registry's lock. The files of a list of devices are made once, those that a process has in another way
// are shown anew at every call.
void show_devices(const std::vector<Device*>& devices, bool is_new_list);

}  // namespace verbs::soft::host
