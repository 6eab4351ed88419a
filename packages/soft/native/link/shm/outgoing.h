// The frames that this address sends to one address of another process: the writing end of a ring, and the socket that
// tells when the peer is gone.
//
// No frame is lost while the peer reads. Frames that find the ring full wait here, in their order, and the NIC sends no
// more to this peer until they are gone. A peer that reads nothing for a while (it is stopped, or stuck) must not hold
// what waits for it for ever: then its frames are dropped, as a network drops them, until it reads again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "link/link.h"
#include "link/message.h"
#include "link/offered_memory.h"
#include "link/shm/peer_socket.h"
#include "link/shm/ring.h"

namespace verbs::soft::link {

class Outgoing final : public MessageWay {
 public:
  using Clock = Nanos (*)();

  // How long frames wait for a peer that reads nothing.
  static constexpr Nanos kPatience = 100'000'000;

  // Makes the ring and hands it to the process that has `destination`, which has sent its invitation by the connection
  // `fd`. 0 or errno; then the caller closes `fd`.
  static int open(int fd, const wire::Gid& source, const wire::Gid& destination, std::unique_ptr<Outgoing>* outgoing);
  virtual ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  int fd() const { return fd_; }
  // Returns how many frames were dropped, of those that waited and this one.
  std::size_t send(std::span<const std::uint8_t> frame, FrameForm form, Clock clock);
  // Whether the peer reads the memory of this process.
  bool takes_references() const { return writer_.reader_pulls(); }
  // What the peer has not read by now, it does not use.
  void revoke_references() { writer_.set_epoch(++epoch_); }
  // What the peer may map from now on.
  void offer(const OfferedMemory& memory);
  // Room only where no frame waits and the peer knows the form. Who finds none sends the frame.
  std::uint8_t* reserve(std::size_t size) override;
  void commit(const Message& message, std::size_t size) override;
  std::uint64_t messages() const { return messages_; }
  // Makes the frames visible.
  void flush() override;
  // Writes the frames that wait, as far as there is room. Returns how many were dropped because of the peer's silence.
  std::size_t send_waiting(Nanos now);
  bool has_waiting() const { return !waiting_.empty(); }
  // When send_waiting() gives up.
  Nanos deadline() const { return has_waiting() ? waiting_since_ + kPatience : INT64_MAX; }

  // The socket is readable: there is room, or the peer is gone.
  void handle_socket(bool hung_up);
  // The peer takes no more frames of this connection.
  bool is_idle() const { return !writer_.has_unpublished(); }  // all frames are visible
  bool is_over() const { return hung_up_ || writer_.is_broken() || writer_.is_closed(); }
  bool was_broken() const { return writer_.is_broken(); }
  // The peer closed the connection without reading a frame.
  bool was_refused() { return hung_up_ && !writer_.was_read(); }
  std::size_t waiting() const { return waiting_.size(); }

  // In a forked child: closes the descriptor, which is the parent's connection.
  void abandon();

  // The link flushes those of its batch at the end.
  std::vector<Outgoing*>* batch = nullptr;
  bool in_batch = false;
  void join_batch() {
    if (!in_batch) batch->push_back(this);  // which has room
    in_batch = true;
  }

 private:
  // The NIC stops at its next look; delayed frames of a fault plan and those of models do not.
  static constexpr std::size_t kMostWaiting = 1024;
  // A long message becomes visible in parts, so that the peer copies one while this end writes the next.
  static constexpr std::size_t kPart = 16 << 10;

  struct Waiting {
    FrameForm form;
    std::uint32_t epoch;
    std::vector<std::uint8_t> frame;
  };

  Outgoing(int fd, SharedMemory memory);
  bool write(std::span<const std::uint8_t> frame, FrameForm form, std::uint32_t epoch);

  int fd_;
  SharedMemory memory_;
  RingWriter writer_;
  std::deque<Waiting> waiting_;
  std::uint32_t epoch_ = 0;    // of references
  std::uint64_t offered_ = 0;  // the version of the memory that is offered
  Nanos waiting_since_ = 0;    // nothing was read since then
  std::uint8_t* reserved_ = nullptr;
  std::uint64_t messages_ = 0;
  bool silent_ = false;  // patience ended, and nothing was read since
  bool hung_up_ = false;
};

// The memory that the peer offers (offered_memory.h), mapped here. The descriptor of each offer is fetched from the
// peer, and the memory mapped, when a frame first refers to it.
//
// The peer may offer anything. The descriptor must be of a memory file that cannot shrink, and that has the bytes; it
// is mapped for reading only. What such a mapping reads is the peer's to choose, and nobody else's.

class MappedPeer {
 public:
  // Of all offers of a peer. So many peers leave room in the address space.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;

  MappedPeer() = default;
  ~MappedPeer() { clear(); }
  MappedPeer(const MappedPeer&) = delete;
  MappedPeer& operator=(const MappedPeer&) = delete;

  // Where that memory is mapped here, until the next look(); nullptr: it is not, or was not offered at the last look.
  const std::uint8_t* find(const RingReader& ring, const PeerProcess& process, const Reference& reference);
  // Unmaps what is no longer offered. Cheap while nothing has changed.
  void look(const RingReader& ring) {
    if (is_stale(ring)) read_offers(ring);
  }
  bool is_stale(const RingReader& ring) const { return ring.offers_version() != version_; }
  // In a forked child, which has no mappings.
  void forget();

 private:
  enum class State : std::uint8_t { kUnknown, kMapped, kRefused };
  struct Mapping {
    State state = State::kUnknown;
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;
  };

  void read_offers(const RingReader& ring);
  void map(const RingReader& ring, const PeerProcess& process, std::size_t place);
  void unmap(std::size_t place);
  void clear();

  std::uint32_t version_ = 0;
  std::size_t count_ = 0;  // places up to the last offer
  std::size_t last_ = 0;   // of the reference before
  std::uint64_t bytes_ = 0;
  OfferedMemory::List offers_;
  std::array<Mapping, OfferedMemory::kMost> mappings_;
};

}  // namespace verbs::soft::link
