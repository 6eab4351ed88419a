// What the files of a device have at this moment.
#pragma once

#include <cstdint>
#include <string_view>

#include "system/text.h"

namespace verbs::soft::system {

// What of a name is of a device: "soft0/ports/1/state" of /sys/devices/virtual/infiniband/soft0/ports/1/state; empty if
// it is of none. The name has no links in it.
std::string_view device_file(std::string_view name);

enum class Content : std::uint8_t { kFixed, kPresent, kUnreadable };

// The content of a device's file. kFixed: what the tree has. kUnreadable: reading the kernel's file fails (EINVAL).
Content content_of(std::string_view file, Text* text);

}  // namespace verbs::soft::system
