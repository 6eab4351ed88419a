// Which process of this machine listens where. On hardware all processes share the machine's addresses, and a program
// reaches a service of its own machine by any loopback address. Here each process has a loopback address of its own, so
// listeners announce themselves: by an abstract Unix socket with a telling name, which needs no server, takes nothing
// from anyone, is gone with its process, and is seen in the same network namespace only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/device/address.h"

namespace verbs::rdmacm::model {

bool is_loopback(const Gid& gid);

// A service of this process as others find it. Programs may tell their port as soon as it is bound, and listen later:
// others' requests must reach the process that will listen, which holds them for a while.
enum class Service { kListening, kBound };

class Announcement {
 public:
  // `bound`: the address that the program listens at, zeros for every one. `own`: where its device is. Without a
  // loopback address it announces nothing, nor if it fails: then others need the device's address.
  static std::unique_ptr<Announcement> make(std::uint64_t service_id, const Gid& bound, const Gid& own,
                                            Service service);
  ~Announcement();
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  explicit Announcement(int fd) : fd_(fd) {}

  int fd_;
};

// The address of the device that serves a loopback address of this machine: that of a listener, else of a process that
// has bound the port. nullopt if there is no service, or the address is none of loopback.
std::optional<Gid> find_neighbour(std::uint64_t service_id, const Gid& address);

}  // namespace verbs::rdmacm::model
