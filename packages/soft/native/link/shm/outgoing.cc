#include "link/shm/outgoing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <utility>

#include "link/doors/door.h"
#include "link/doors/local_socket.h"
#include "link/shm/peer_socket.h"
#include "verbs_soft_cancel.h"

namespace verbs::soft::link {

int Outgoing::open(int fd, const wire::Gid& source, const wire::Gid& destination, std::unique_ptr<Outgoing>* outgoing) {
  SharedMemory memory;
  int memory_fd = -1;
  if (const int error = SharedMemory::create(kRingMemory, &memory, &memory_fd)) return error;
  const int error = send_hello(fd, make_hello(source, destination, PeerProcess::own_proof()), memory_fd);
  close(memory_fd);
  if (error != 0) return error;
  outgoing->reset(new Outgoing(-1, std::move(memory)));
  (*outgoing)->fd_ = fd;  // this object's from now on
  return 0;
}

Outgoing::Outgoing(int fd, SharedMemory memory) : fd_(fd), memory_(std::move(memory)), writer_(memory_.data()) {}

Outgoing::~Outgoing() {
  if (fd_ < 0) return;  // a forked child has neither the connection nor the ring
  revoke_references();
  hang_up(fd_);
}

void Outgoing::abandon() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool Outgoing::write(std::span<const std::uint8_t> frame, FrameForm form, std::uint32_t epoch) {
  if (writer_.write(frame, form, epoch)) return true;
  if (is_over()) return false;
  flush();  // the peer must see all that is to be read
  writer_.ask_for_room();
  if (!writer_.write(frame, form, epoch)) return false;
  writer_.need_no_room();
  return true;
}

std::size_t Outgoing::send(std::span<const std::uint8_t> frame, FrameForm form, Clock clock) {
  const std::size_t dropped = has_waiting() ? send_waiting(clock()) : 0;
  if (!has_waiting() && write(frame, form, epoch_)) {
    silent_ = false;
    if (writer_.unpublished() >= kPart) flush();
    return dropped;
  }
  if (silent_ || is_over() || waiting_.size() >= kMostWaiting) return dropped + 1;
  if (!has_waiting()) waiting_since_ = clock();
  try {
    waiting_.push_back({form, epoch_, {frame.begin(), frame.end()}});
    had_room_ = false;
  } catch (const std::bad_alloc&) {
    return dropped + 1;
  }
  return dropped;
}

std::uint8_t* Outgoing::reserve(std::size_t size) {
  // Whether it is over: once for each batch, as for frames.
  had_room_ = false;
  if (has_waiting() || !writer_.reader_takes_messages() || (is_idle() && is_over())) return nullptr;
  reserved_ = writer_.reserve(sizeof(Message) + size);
  had_room_ = reserved_ != nullptr;
  return had_room_ ? reserved_ + sizeof(Message) : nullptr;
}

void Outgoing::commit(const Message& message, std::size_t size) {
  std::memcpy(reserved_, &message, sizeof message);
  writer_.commit(sizeof message + size, FrameForm::kMessage, epoch_);
  ++messages_;
  silent_ = false;
  join_batch();
  if (writer_.unpublished() >= kPart) flush();
}

std::size_t Outgoing::send_waiting(Nanos now) {
  while (has_waiting()) {
    const Waiting& first = waiting_.front();
    if (!write(first.frame, first.form, first.epoch)) break;
    waiting_.pop_front();
    waiting_since_ = now;
    silent_ = false;
  }
  if (!has_waiting()) {
    flush();
    return 0;
  }
  if (!is_over() && now - waiting_since_ < kPatience) return 0;
  silent_ = true;
  return std::exchange(waiting_, {}).size();
}

void Outgoing::offer(const OfferedMemory& memory) {
  if (offered_ == memory.version()) return;
  offered_ = memory.version();
  writer_.set_offers(memory.list());
  if (writer_.wake()) ring_bell(fd_);  // a peer that sleeps keeps memory that is no longer offered
}

void Outgoing::flush() {
  if (writer_.publish()) ring_bell(fd_);
}

void Outgoing::handle_socket(bool hung_up) {
  if (!take_bells(fd_) || hung_up) hung_up_ = true;
}

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
