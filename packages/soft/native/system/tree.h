// Where the files of the machine's devices are (machine/folder.h). The launcher, or the first program, has made them; a
// program whose NIC has other devices has a tree of its own.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/folder.h"
#include "system/text.h"

namespace verbs::soft::system {

// The path of this process's tree; nothing: there is none, and every path is the kernel's.
void add_root(Text* text);

// The path of the machine's folder; empty without one.
std::string_view machine_folder();

// The name, as programs know it, of a path that leads into a folder of devices in a tree; empty for every other path.
std::string_view name_in_tree(std::string_view path);

// Whether the tree has links to devices of the kernel itself.
bool has_kernels_own();

// What the files of a device have at this moment.

// What of a name is of a device: "soft0/ports/1/state" of /sys/devices/virtual/infiniband/soft0/ports/1/state; empty if
// it is of none. The name has no links in it.
std::string_view device_file(std::string_view name);

enum class Content : std::uint8_t { kFixed, kPresent, kUnreadable };

// The content of a device's file. kFixed: what the tree has. kUnreadable: reading the kernel's file fails (EINVAL).
Content content_of(std::string_view file, Text* text);

}  // namespace verbs::soft::system
