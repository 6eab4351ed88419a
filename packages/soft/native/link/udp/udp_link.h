// Frames over a UDP socket. The kernel writes the IP and UDP headers that the ICRC of the NIC covers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "link/link.h"
#include "link/udp/foreign_peers.h"
#include "link/udp/group_sockets.h"
#include "link/udp/transmit_batch.h"

namespace verbs::soft::link {

struct UdpOptions {
  std::uint16_t port = wire::kRocePort;  // of this end and of every peer; also the source port of its frames
  int buffer_bytes = 4 << 20;            // requested; the kernel may grant less
  bool shared = false;                   // with other processes of this user
  // Peers that choose their source ports; nullptr: none.
  std::shared_ptr<const ForeignPeers> foreign = nullptr;
};

struct UdpCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t send_dropped = 0;       // the kernel rejected the frame
  std::uint64_t receive_dropped = 0;    // longer than any frame
  std::uint64_t wrong_source_port = 0;  // datagrams from a port that is not the sender's
};

// Whether the network leads from one address to the other, as Transmitter::route: for an address that has no link, too.
int find_route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu);

class UdpLink final : public Link {
 public:
  // Binds `address`, exclusively unless it is shared. 0 or errno (EADDRINUSE, EADDRNOTAVAIL, …).
  static int open(const wire::Gid& address, const UdpOptions& options, std::unique_ptr<UdpLink>* link);
  ~UdpLink() override;

  std::uint8_t* reserve() override;
  void commit(std::size_t size) override;
  void commit_unsealed(std::span<std::uint8_t> frame) override;
  void flush() override;
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override {
    return find_route(source, destination, mtu);
  }
  std::uint16_t fixed_source_port() const override { return port_; }
  std::size_t receive(Receiver& receiver, std::size_t budget) override;
  int wait_fd() const override { return fd_; }

  // From now on the link receives frames to the group. 0 or errno.
  int join(const wire::Gid& group) { return groups_.join(group); }
  void leave(const wire::Gid& group) { groups_.leave(group); }
  // The sockets that are readable when frames wait.
  void add_sockets(std::vector<int>* sockets) const {
    sockets->push_back(fd_);
    groups_.add_sockets(sockets);
  }

  UdpCounters counters() const {
    UdpCounters all = counters_;
    all.wrong_source_port = filter_.rejected();
    return all;
  }
  PeerFilter& filter() { return filter_; }
  // In a forked child: gives the descriptors back, which are the parent's place in the group.
  void abandon();

 private:
  struct Receiving;
  UdpLink(int fd, const wire::Gid& address, const UdpOptions& options, std::uint32_t scope);
  std::size_t hand_over(std::size_t slot, Receiver& receiver);  // returns the number of frames

  int fd_;
  wire::Gid address_;
  std::uint16_t port_;
  UdpCounters counters_;
  PeerFilter filter_;
  GroupSockets groups_;
  TransmitBatch sending_;
  std::unique_ptr<Receiving> receiving_;
};

}  // namespace verbs::soft::link
