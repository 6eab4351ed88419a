// The memory that the peer offers (offered_memory.h), mapped here. The descriptor of each offer is fetched from the
// peer, and the memory mapped, when a frame first refers to it.
//
// The peer may offer anything. The descriptor must be of a memory file that cannot shrink, and that has the bytes; it
// is mapped for reading only. What such a mapping reads is the peer's to choose, and nobody else's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "link/offered_memory.h"
#include "link/reference.h"
#include "link/shm/peer_process.h"
#include "link/shm/ring.h"

namespace verbs::soft::link {

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
    if (ring.offers_version() != version_) read_offers(ring);
  }
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
