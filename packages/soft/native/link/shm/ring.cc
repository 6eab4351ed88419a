#include "link/shm/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "guard/access_guard.h"

namespace verbs::soft::link {

using namespace ring;

namespace {

// From the next line on: the reader still reads the one before.
void fetch_to_write(std::uint8_t* records, std::uint64_t from) {
  from += -from % kLine;
  for (std::uint64_t at = from; at < from + kShort; at += kLine) {
    std::uint8_t* line = records + offset_of(at);
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*line));  // the compiler's own would be one for reading
#else
    __builtin_prefetch(line, 1);
#endif
  }
}

}  // namespace

bool RingWriter::look_at_tail() {
  const std::uint64_t tail = header_->tail.load(std::memory_order_seq_cst);
  if (tail - tail_ > published_ - tail_) broken_ = true;  // it went back, or past the last frame
  if (!broken_) tail_ = tail;
  return !broken_;
}

// The receiver reads the memory, and then the epoch; the application writes the memory after the epoch has changed.
void RingWriter::set_epoch(std::uint32_t epoch) {
  header_->epoch.store(epoch, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

std::uint32_t RingReader::epoch() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return header_->epoch.load(std::memory_order_seq_cst);
}

void RingWriter::set_offers(const OfferedMemory::List& offers) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  header_->offers_version.store(++offers_version_, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    RingOffer& place = header_->offers[i];
    place.address.store(offers[i].address, kRelaxed);
    place.size.store(offers[i].size, kRelaxed);
    place.offset.store(offers[i].offset, kRelaxed);
    place.fd.store(offers[i].fd, kRelaxed);
    place.id.store(offers[i].id, kRelaxed);
  }
  header_->offers_version.store(++offers_version_, std::memory_order_seq_cst);
}

bool RingReader::read_offers(OfferedMemory::List* offers, std::uint32_t* version) const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  *version = offers_version();
  for (std::size_t i = 0; i < offers->size(); ++i) {
    const RingOffer& place = header_->offers[i];
    (*offers)[i] = {place.address.load(kRelaxed), place.size.load(kRelaxed), place.offset.load(kRelaxed),
                    place.fd.load(kRelaxed), place.id.load(kRelaxed)};
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return *version % 2 == 0 && header_->offers_version.load(kRelaxed) == *version;
}

bool RingWriter::write(std::span<const std::uint8_t> frame, FrameForm form, std::uint32_t epoch) {
  std::uint8_t* at = reserve(frame.size());
  if (at == nullptr) return false;
  std::memcpy(at, frame.data(), frame.size());
  commit(frame.size(), form, epoch);
  return true;
}

bool RingWriter::publish() {
  if (published_ == head_) return false;
  const bool is_short = unpublished() <= kShort;
  word_at(records_ + offset_of(published_)).store(first_word_, std::memory_order_seq_cst);
  first_word_ = kNothing;
  published_ = head_;
  const bool ring = wake();
  if (is_short) fetch_to_write(records_, head_);
  return ring;
}

bool RingWriter::wake() {
  const std::uint32_t wanted = header_->wanted.load(std::memory_order_seq_cst);
  if (wanted % 2 == 0 || wanted == rung_) return false;
  rung_ = wanted;
  return true;
}

bool RingReader::release() {
  if (released_ == tail_) return false;
  released_ = tail_;
  header_->tail.store(tail_, std::memory_order_seq_cst);
  if (header_->wants_room.load(std::memory_order_seq_cst) == 0) return false;
  // Not for each bit of room: the writer would wake for a frame at a time. A ring with frames is read again soon.
  const std::uint64_t left = header_->filled.load(std::memory_order_relaxed) - tail_;
  if (left > kRingCapacity / 2 && left <= kRingCapacity) return false;
  header_->wants_room.store(0, std::memory_order_relaxed);
  return true;
}

namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

int SharedMemory::create(std::size_t size, SharedMemory* memory, int* fd) {
  // The receiver's kernel refuses more seals, so that nobody can make the memory unwritable either.
  if (const int error = make_memory_file("verbs-soft", size, kSizeSeals | F_SEAL_SEAL, fd)) return error;
  const int error = map(*fd, size, memory);
  if (error != 0) close(*fd);
  return error;
}

int SharedMemory::map(int fd, std::size_t size, SharedMemory* memory) {
  const int seals = fcntl(fd, F_GET_SEALS);  // -1: no memory file
  struct stat status{};
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals || fstat(fd, &status) != 0) return EINVAL;
  if (status.st_size != static_cast<off_t>(size)) return EINVAL;
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return errno;
  (void)madvise(at, size, MADV_DONTFORK);
  SharedMemory mapped;
  mapped.data_ = static_cast<std::uint8_t*>(at);
  mapped.size_ = size;
  *memory = std::move(mapped);
  return 0;
}

}  // namespace verbs::soft::link
