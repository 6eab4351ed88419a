// The folder of a machine: what the software NICs of its processes write there, and the preloaded library reads. Its
// path is in VERBS_SOFT_SYSTEM.
//
//   trees/HASH/           files of the devices of one list, as the kernel has them: sys/class/infiniband/...,
//                         dev/infiniband/...; made once for each list of devices
//   trees/HASH/devices    the names of those devices, one a line, in their order
//   trees/HASH/kernel     is there if the tree has links to devices of the kernel itself
//   configurations/HASH   a link to the tree of the devices that a configuration text means
//   loaded                written to by the first of a program's libraries that lists devices, for `verbs run`
//   counters/DEVICE       what the processes of the machine have counted (counter_file.h)
//
// What is here and beside it is for signal handlers too, after vfork() too: it takes no lock, needs no memory but the
// stack, and little of that. It throws nothing (no substr()): the preloaded library has no C++ library.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace verbs::soft::machine {

inline constexpr const char* kVariable = "VERBS_SOFT_SYSTEM";

// The longest path of a tree, and the longest name of a file as programs know it (/sys/class/...), with their zeros.
// Longer ones are none of ours: the preloaded library has no memory but its stack, in signal handlers too.
inline constexpr std::size_t kRootRoom = 256;
inline constexpr std::size_t kNameRoom = 512;
// The longest content of a file.
inline constexpr std::size_t kContentRoom = 256;

// FNV-1a
inline constexpr std::uint64_t hash(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325u) {
  for (const char letter : text) seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return seed;
}

// 16 digits, without a zero at the end.
inline void write_hash(std::uint64_t value, char* digits) {
  for (int i = 15; i >= 0; --i, value >>= 4) digits[i] = "0123456789abcdef"[value & 0xf];
}

// Where a device's folder is, with what is in front of its name.
inline constexpr std::string_view kVirtualDevices = "/sys/devices/virtual/infiniband";
// The bus of models' devices: no card is in this domain.
inline constexpr std::string_view kBusDomain = "5f5f:";
inline constexpr std::string_view kBusDevices = "/sys/devices/pci5f5f:00";

// The entries of a folder, as the kernel itself tells them: not by way of the preloaded library, and in signal handlers
// too.

struct Entry {  // struct linux_dirent64
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t size;
  std::uint8_t type;
  char name[];
};

// Calls visit(name) for each entry of an open folder but "." and "..".
template <typename Visit>
void for_each_entry(int folder, const Visit& visit) {
  alignas(Entry) char bytes[1024];
  for (long filled; (filled = syscall(SYS_getdents64, folder, bytes, sizeof bytes)) > 0;) {
    for (long at = 0; at < filled;) {
      const auto* entry = reinterpret_cast<const Entry*>(bytes + at);
      at += entry->size;
      const char* name = entry->name;
      if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'))) continue;
      visit(name);
    }
  }
}

}  // namespace verbs::soft::machine
