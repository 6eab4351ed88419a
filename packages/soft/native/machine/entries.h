// The entries of a folder, as the kernel itself tells them: not by way of the preloaded library, and in signal handlers
// too.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace verbs::soft::machine {

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
