#include "link/shm/mapped_peer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link/doors/closer.h"
#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
namespace {

constexpr std::uint64_t kPage = 4096;

// nullptr: it is not memory that stays as it is.
const std::uint8_t* map_offer(int fd, const Offer& offer) {
  const int seals = fcntl(fd, F_GET_SEALS);  // -1: no memory file
  struct stat status{};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &status) != 0) return nullptr;
  const auto end = static_cast<std::uint64_t>(status.st_size);
  if (offer.offset > end || offer.size > end - offer.offset) return nullptr;
  void* at = mmap(nullptr, offer.size, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offer.offset));
  if (at == MAP_FAILED) return nullptr;
  (void)madvise(at, offer.size, MADV_DONTFORK);
  return static_cast<const std::uint8_t*>(at);
}

}  // namespace

const std::uint8_t* MappedPeer::find(const RingReader& ring, const PeerProcess& process, const Reference& reference) {
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t place = (last_ + i) % count_;
    if (!offers_[place].covers(reference.address, reference.size)) continue;
    Mapping& mapping = mappings_[place];
    if (mapping.state == State::kUnknown) map(ring, process, place);
    if (mapping.state != State::kMapped) continue;
    last_ = place;
    return mapping.data + (reference.address - offers_[place].address);
  }
  return nullptr;
}

// While the peer changes the list, nothing is known of it.
void MappedPeer::read_offers(const RingReader& ring) {
  OfferedMemory::List list;
  count_ = 0;
  if (!ring.read_offers(&list, &version_)) return;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] != offers_[i]) unmap(i);
    if (list[i].id != 0) count_ = i + 1;
  }
  offers_ = list;
}

void MappedPeer::map(const RingReader& ring, const PeerProcess& process, std::size_t place) {
  const Offer& offer = offers_[place];
  Mapping& mapping = mappings_[place];
  mapping.state = State::kRefused;
  if (offer.size == 0 || offer.offset % kPage != 0 || offer.size > kMostBytes - bytes_) return;
  const Uncancelled calls;
  const int fd = process.take_descriptor(offer.fd);
  if (fd < 0) return;
  mapping.data = map_offer(fd, offer);
  if (mapping.data == nullptr) {
    close_elsewhere(fd);  // it may be anything, and the last reference to it
    return;
  }
  close(fd);
  mapping.state = State::kMapped;
  mapping.size = static_cast<std::size_t>(offer.size);
  bytes_ += offer.size;
  // Meanwhile the number may have become another descriptor's.
  if (ring.offers_version() != version_ || !process.still_runs()) unmap(place);
}

void MappedPeer::unmap(std::size_t place) {
  Mapping& mapping = mappings_[place];
  if (mapping.state == State::kMapped) {
    munmap(const_cast<std::uint8_t*>(mapping.data), mapping.size);
    bytes_ -= mapping.size;
  }
  mapping = {};
}

void MappedPeer::clear() {
  for (std::size_t i = 0; i < mappings_.size(); ++i) unmap(i);
}

void MappedPeer::forget() {
  mappings_ = {};
  count_ = 0;
}

}  // namespace verbs::soft::link
