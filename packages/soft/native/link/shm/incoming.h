// The frames that one address of another process sends to this one: the reading end of a ring, and the socket that came
// with it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "link/doors/door.h"
#include "link/link.h"
#include "link/shm/outgoing.h"
#include "link/shm/peer_socket.h"
#include "link/shm/ring.h"

namespace verbs::soft::link {

// The connections of peers to an address: received at its door, until the link takes them.

// A peer that has brought its ring.
struct Arrival {
  int fd = -1;
  wire::Gid source;
  SharedMemory memory;
  std::optional<PeerProcess> process;  // if its memory can be read
};

class Arrivals {
 public:
  // Nobody arrives without a door.
  explicit Arrivals(const wire::Gid& address);
  ~Arrivals();
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  // The door for frames to those numbers. 0 or errno: EADDRINUSE if another process has its name.
  int open_door(Range range);
  void close_door(Range range) { doors_.erase(range); }
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
  std::map<Range, std::unique_ptr<Door>> doors_;
};

class Incoming final : private SenderMemory {
 public:
  // `bell`: the one that the link asks for now.
  Incoming(Arrival arrival, const wire::Gid& own, std::uint32_t bell);
  ~Incoming();
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  int fd() const { return fd_; }
  // The socket is readable, or the peer has hung up.
  void handle_socket(std::uint32_t bell, bool hung_up);
  void want(std::uint32_t bell) { reader_.want(bell); }

  // receive() would do nothing.
  bool is_quiet() const {
    return !reader_.has_frame() && !reader_.has_read() && !hung_up_ && !over_ && !mappings_.is_stale(reader_);
  }
  // Hands at most `budget` frames to `receiver`, each copied to `room` before; returns how many. Frames that are not
  // from the peer's address to this one are dropped.
  std::size_t receive(Receiver& receiver, std::size_t budget, std::uint8_t* room);
  // The frames came by the network, to a process that they were not meant for.
  bool forwards() const { return ends_.source.is_zero(); }
  // The connection is over, and all its frames have been received.
  bool is_over() const { return over_; }
  // The peer wrote what no peer writes.
  bool was_broken() const { return broken_; }
  std::uint64_t rejected() const { return rejected_; }  // frames with wrong addresses
  std::uint64_t pulled() const { return pulled_; }      // frames whose payload was read from the peer's memory
  std::uint64_t mapped() const { return mapped_; }      // … from memory of the peer that is mapped here
  std::uint64_t unpulled() const { return unpulled_; }  // … could not be read

  // In a forked child: closes the descriptor, which is the parent's connection.
  void abandon();

 private:
  bool is_from_peer(std::span<const std::uint8_t> frame) const;
  bool hand_over_message(Receiver& receiver, std::span<const std::uint8_t> record) const;
  bool read(std::span<const iovec> to, std::span<const Reference> from) override;
  const std::uint8_t* find_mapped(const Reference& reference) override;
  bool confirm(bool copied) override;

  int fd_;
  MessageEnds ends_;  // the peer, and this end
  SharedMemory memory_;
  RingReader reader_;
  bool hung_up_ = false;
  bool broken_ = false;
  bool over_ = false;
  std::optional<PeerProcess> process_;  // if its memory can be read
  MappedPeer mappings_;
  std::uint32_t epoch_ = 0;  // of the frame that is delivered
  std::uint64_t rejected_ = 0;
  bool found_mapped_ = false;  // something that the present frame refers to
  std::uint64_t pulled_ = 0;
  std::uint64_t mapped_ = 0;
  std::uint64_t unpulled_ = 0;
};

}  // namespace verbs::soft::link
