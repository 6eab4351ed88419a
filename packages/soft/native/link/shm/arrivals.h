// The connections of peers to an address: received at its door, until the link takes them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "link/doors/door.h"
#include "link/shm/peer_process.h"
#include "link/shm/peer_socket.h"
#include "link/shm/shared_memory.h"

namespace verbs::soft::link {

// A peer that has brought its ring.
struct Arrival {
  int fd = -1;
  wire::Gid source;
  SharedMemory memory;
  std::optional<PeerProcess> process;  // if its memory can be read
};

class Arrivals {
 public:
  // Nobody arrives where another process has the name of the address, or this one cannot have a door.
  explicit Arrivals(const wire::Gid& address);
  ~Arrivals();
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  // Readable while someone has arrived; -1: nobody will.
  int fd() const { return event_; }
  std::vector<Arrival> take();
  // In a forked child.
  void abandon();

 private:
  class Reception;

  wire::Gid address_;
  int event_ = -1;
  std::mutex mutex_;
  std::vector<Arrival> arrived_;
  std::unique_ptr<Door> door_;
};

}  // namespace verbs::soft::link
