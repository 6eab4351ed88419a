// Which process of this machine has which service where. All processes of a user share their addresses, and with them
// the ports there; a program reaches a service of its own machine by any loopback address, of which devices may have
// different ones. So who binds a port announces it: by an abstract Unix socket with a telling name, which needs no
// server, takes nothing from anyone, is gone with its process, and is seen in the same network namespace only.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "model/device/address.h"

namespace verbs::rdmacm::model {

bool is_loopback(const Gid& gid);

// A service of this process as others find it. Programs may tell their port as soon as it is bound, and listen later:
// others' requests must reach the process that will listen, which holds them for a while. kReusable: bound, and whoever
// else binds it in this way may share it.
enum class Service { kListening, kBound, kReusable };

class Announcement {
 public:
  // `bound`: the address that the program listens at, zeros for every one. `own`: where its device is. nullptr if it
  // fails: then others know nothing of it.
  static std::unique_ptr<Announcement> make(std::uint64_t service_id, const Gid& bound, const Gid& own,
                                            Service service);
  ~Announcement();
  // Whether an older service of another process, of this user or root, is in the way: 0, EADDRINUSE at the same
  // address, or EADDRNOTAVAIL if one of the two is every address.
  int find_conflict() const;
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

  // The lock of the list of all. No other lock is taken under it.
  static std::mutex& mutex();
  // In the child of a fork: what the parent announces is the parent's, and ends with it.
  static void leave_to_parent() noexcept;

 private:
  // Under the lock.
  Announcement(std::uint64_t service_id, const Gid& bound, const Gid& own, Service service);

  int fd_ = -1;
  std::uint64_t service_id_;
  Gid bound_;
  Gid own_;
  Service service_;
  Announcement *newer_ = nullptr, *older_ = nullptr;  // of this process
};

// The address of the device that serves a loopback address of this machine: that of a listener, else of a process that
// has bound the port. nullopt if there is no service, or the address is none of loopback.
std::optional<Gid> find_neighbour(std::uint64_t service_id, const Gid& address);

}  // namespace verbs::rdmacm::model
