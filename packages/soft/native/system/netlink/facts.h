// What the tree and the NIC tell of the machine's devices, as programs read it in /sys/class/infiniband.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/entries.h"
#include "machine/folder.h"
#include "system/memory.h"
#include "system/text.h"

namespace verbs::soft::system {

using FileText = TextOf<machine::kContentRoom + 1>;

class Facts {
 public:
  // Of the devices that the machine has now.
  Facts();

  bool whole() const { return whole_; }
  // Calls visit(index, name) for each device.
  template <typename Visit>
  void devices(const Visit& visit) const {
    std::string_view rest = names_.view();
    for (std::uint32_t index = 0; !rest.empty(); ++index) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos) return;
      std::string_view name = rest;
      name.remove_suffix(rest.size() - end);
      rest.remove_prefix(end + 1);
      visit(index, name);
    }
  }

 private:
  Memory names_;
  bool whole_ = false;
};

// The content of a device's file without its line end: "ports/1/state". False: there is none.
bool read_fact(std::string_view device, std::string_view file, Text* text);
// The number at its beginning, "4: ACTIVE"; 0 if there is none.
std::uint64_t number_in(std::string_view device, std::string_view file);
// The digits of "0200:00ff:fe00:0001".
std::uint64_t guid_in(std::string_view device, std::string_view file);
std::uint32_t ports_of(std::string_view device);

// Calls visit(name) for each entry of a device's folder: "ports/1/hw_counters".
template <typename Visit>
void entries_of(std::string_view device, std::string_view folder, const Visit& visit);

// The path in the file system. False: it is too long.
bool add_path(std::string_view device, std::string_view file, Text* path);

template <typename Visit>
void entries_of(std::string_view device, std::string_view folder, const Visit& visit) {
  TextOf<machine::kRootRoom + machine::kNameRoom> path;
  const int fd = add_path(device, folder, &path) ? kernel::open(path.c_str(), O_RDONLY | O_DIRECTORY) : -1;
  if (fd < 0) return;
  machine::for_each_entry(fd, [&](const char* name) {
    if (name[0] != '.') visit(std::string_view(name));
  });
  kernel::close(fd);
}

}  // namespace verbs::soft::system
