// What the kernel has of a device in /sys/class/infiniband/DEVICE: the same files, with the state of this process's
// NIC.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "host/devices/device.h"

namespace verbs::soft::host {

// `path` is relative to the folder. The content ends with a line end; it is empty if reading the kernel's file fails
// (the type of an empty entry of the GID table).
using SysfsVisitor = std::function<void(const std::string& path, const std::string& content)>;

// Under the registry's lock. Until the device is open, its GIDs are those of its configuration.
void visit_sysfs(Device& device, const SysfsVisitor& visit);
// As if nobody had opened the device, with counters of 0.
void visit_configured_sysfs(Device& device, const SysfsVisitor& visit);
// The device's place on the PCI bus, "5f5f:00:00.0"; empty if it is on none.
std::string bus_place(const Device& device);

// The content of the file at `path`; nullopt if there is none. Makes the contents of its own folder only.
std::optional<std::string> read_sysfs(Device& device, const std::string& path);

}  // namespace verbs::soft::host
