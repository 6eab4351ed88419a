// The multicast groups that an address has joined. Each has a socket, bound to the group's address: so it hears nothing
// else, several processes of a machine hear the same group, and the port's own socket stays nobody's but its own.
#pragma once

#include <cstdint>
#include <vector>

#include "link/link.h"
#include "wire/gid.h"

namespace verbs::soft::link {

class GroupSockets {
 public:
  GroupSockets(const wire::Gid& address, std::uint16_t port) : address_(address), port_(port) {}
  ~GroupSockets();
  GroupSockets(const GroupSockets&) = delete;
  GroupSockets& operator=(const GroupSockets&) = delete;

  // Lets `fd`, a socket bound to `address`, send to groups by the interface of the address. 0 or errno.
  static int prepare_sender(int fd, const wire::Gid& address);

  // On the interface of the address. 0 or errno; joined once, however often it is called.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);
  bool empty() const { return sockets_.empty(); }
  void add_sockets(std::vector<int>* sockets) const;

  // Takes at most `budget` frames and returns their number.
  std::size_t receive(Receiver& receiver, std::size_t budget);

 private:
  struct Socket {
    wire::Gid group;
    int fd;
  };
  bool take(const Socket& socket, Receiver& receiver);

  wire::Gid address_;
  std::uint16_t port_;
  std::vector<Socket> sockets_;
  std::uint8_t buffer_[wire::kMaxFrame];
};

}  // namespace verbs::soft::link
