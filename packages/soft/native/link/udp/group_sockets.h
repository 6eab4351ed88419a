// The multicast groups that an address has joined. Each group has a socket that is bound to the group's address. So the
// socket receives no other packets, several processes of a machine can join the same group, and the port's own socket
// need not be shared.
#pragma once

#include <cstdint>
#include <vector>

#include "link/link.h"
#include "link/udp/foreign_peers.h"
#include "wire/gid.h"

namespace verbs::soft::link {

class GroupSockets {
 public:
  // `filter` must outlive this object.
  GroupSockets(const wire::Gid& address, std::uint16_t port, PeerFilter& filter)
      : address_(address), port_(port), filter_(filter) {}
  ~GroupSockets();
  GroupSockets(const GroupSockets&) = delete;
  GroupSockets& operator=(const GroupSockets&) = delete;

  // Makes `fd`, a socket bound to `address`, send to groups by the interface of the address. 0 or errno.
  static int prepare_sender(int fd, const wire::Gid& address);

  // Joins on the interface of the address. 0 or errno; 0 if it is a member already.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);
  bool empty() const { return sockets_.empty(); }
  void add_sockets(std::vector<int>* sockets) const;
  // In a forked child.
  void abandon();

  // Receives at most `budget` frames and returns their number.
  std::size_t receive(Receiver& receiver, std::size_t budget);

 private:
  struct Socket {
    wire::Gid group;
    int fd;
  };
  bool take(const Socket& socket, Receiver& receiver);

  wire::Gid address_;
  std::uint16_t port_;
  PeerFilter& filter_;
  std::vector<Socket> sockets_;
  std::uint8_t buffer_[wire::kMaxFrame];
};

}  // namespace verbs::soft::link
