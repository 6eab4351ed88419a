// The counters of a device of a machine: the sum of what its processes count, those included that have ended, as a
// kernel sums up what its processors count. Each process that has the device open counts in a slot of the file; the
// slots of processes that have ended are counted on by others.
//
// A slot is its owner's as long as the owner holds a lock on its bytes, which ends with the process.
#pragma once

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace verbs::soft::machine {

struct CounterFile {
  static constexpr std::size_t kCounters = 256, kNameRoom = 48;
  static constexpr std::size_t kSlotSize = kCounters * sizeof(std::uint64_t);
  // The file begins with the names of the counters: the counter of a name has its place in every slot. An empty name is
  // of no counter.
  static constexpr std::size_t kNamesEnd = kCounters * kNameRoom;
  static constexpr std::size_t kFirstSlot = 16384;
  static constexpr std::size_t kMostSlots = 4096;

  static constexpr std::size_t slot(std::size_t index) { return kFirstSlot + index * kSlotSize; }
};
static_assert(CounterFile::kNamesEnd <= CounterFile::kFirstSlot);

// IBTA's counters of a port, by ours.
struct PortCounter {
  std::string_view name, ours;
  std::uint64_t unit;
};
inline constexpr std::array<PortCounter, 12> kPortCounters = {{
    {"port_xmit_data", "sent_bytes", 4},  // words
    {"port_rcv_data", "rcvd_bytes", 4},
    {"port_xmit_packets", "sent_pkts", 1},
    {"port_rcv_packets", "rcvd_pkts", 1},
    {"unicast_xmit_packets", "sent_pkts", 1},
    {"unicast_rcv_packets", "rcvd_pkts", 1},
    {"port_rcv_errors", "icrc_err", 1},
    {"port_xmit_discards", "link_dropped", 1},
    {"link_downed", "link_downed", 1},
    // Nothing counts as these, and monitors read them.
    {"symbol_error", "", 1},
    {"port_xmit_wait", "", 1},
    {"link_error_recovery", "", 1},
}};

// What a file of a device is if it is a counter's: "ports/1/hw_counters/sent_pkts".
inline std::optional<PortCounter> counter_of(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view folder = file, name = file;
  folder.remove_suffix(file.size() - slash);
  name.remove_prefix(slash + 1);
  if (folder.ends_with("hw_counters")) return PortCounter{name, name, 1};
  if (!folder.ends_with("/counters")) return std::nullopt;
  for (const PortCounter& counter : kPortCounters) {
    if (counter.name == name) return counter;
  }
  return std::nullopt;
}

// These two call the kernel past libc, where the preloaded library is.

// The place of a counter in the slots; nullopt: the file has no such name.
inline std::optional<std::size_t> find_counter(int fd, std::string_view name) {
  constexpr std::size_t kAtOnce = 8;
  char names[kAtOnce * CounterFile::kNameRoom];
  for (std::size_t first = 0; first < CounterFile::kCounters; first += kAtOnce) {
    const long size = syscall(SYS_pread64, fd, names, sizeof names, first * CounterFile::kNameRoom);
    if (size != static_cast<long>(sizeof names)) return std::nullopt;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const char* at = names + i * CounterFile::kNameRoom;
      if (std::string_view(at, strnlen(at, CounterFile::kNameRoom)) == name) return first + i;
    }
  }
  return std::nullopt;
}

// The sum over all slots.
inline std::uint64_t sum_counter(int fd, std::size_t place) {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < CounterFile::kMostSlots; ++index) {
    std::uint64_t value = 0;
    const std::size_t at = CounterFile::slot(index) + place * sizeof value;
    if (syscall(SYS_pread64, fd, &value, sizeof value, at) != static_cast<long>(sizeof value)) break;
    sum += value;
  }
  return sum;
}

}  // namespace verbs::soft::machine
