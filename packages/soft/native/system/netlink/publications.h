// What the processes of this user publish of their devices (host/publication): read here without a lock and without
// malloc().
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/folder.h"
#include "system/memory.h"
#include "system/text.h"

namespace verbs::soft::system {

// The number, or the text, of a key in a part of a report. Text of other programs is quoted in a report, so that no key
// can stand in it.
std::optional<std::uint64_t> number_of(std::string_view part, std::string_view key);
std::string_view word_of(std::string_view part, std::string_view key);
// What of `text` is behind `mark`; nothing if that is not in it.
std::string_view behind(std::string_view text, std::string_view mark);

class Publications {
 public:
  // Asks all; those that have not responded within 300 ms are left out.
  Publications();
  ~Publications();
  Publications(const Publications&) = delete;
  Publications& operator=(const Publications&) = delete;

  // Calls visit(pid, part) for each process that has a device of that name open, with the part of its report.
  template <typename Visit>
  void of_device(std::string_view device, const Visit& visit) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::string_view part = part_of(i, device);
      if (!part.empty()) visit(publishers_[i].pid, part);
    }
  }
  // Calls visit(pid, entry) for each entry of a list about the device: "queuePairs", "mrs".
  template <typename Visit>
  void entries(std::string_view device, std::string_view list, const Visit& visit) const {
    for (std::size_t i = 0; i < count_; ++i) {
      const pid_t pid = publishers_[i].pid;
      std::string_view rest = list_of(i, device, list);
      while (rest.starts_with('{')) {
        const std::size_t end = rest.find('}');
        if (end == std::string_view::npos) return;
        std::string_view entry = rest;
        entry.remove_suffix(rest.size() - end);
        visit(pid, entry);
        rest.remove_prefix(end + 1);
        if (rest.starts_with(',')) rest.remove_prefix(1);
      }
    }
  }

 private:
  static constexpr std::size_t kMost = 256;

  struct Publisher {
    int fd;
    pid_t pid;
    bool whole;
    Memory report;
  };

  void connect_all();
  void connect_to(std::string_view name);
  void read_all();
  std::string_view part_of(std::size_t index, std::string_view device) const;
  std::string_view list_of(std::size_t index, std::string_view device, std::string_view list) const;

  Memory memory_;  // of these, which are too large for the stack of a signal handler
  Publisher* publishers_ = nullptr;
  pollfd* waits_ = nullptr;
  std::size_t count_ = 0;
};

// What the tree and the NIC tell of the machine's devices, as programs read it in /sys/class/infiniband.

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
