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
namespace {

// A record is a word with the size and the form of its frame, the frame's epoch, and the frame. It is not split: where
// it does not fit before the end of the ring, a word alone stands for the rest.
constexpr std::size_t kAlign = 8;
constexpr std::size_t kSizeField = 8;
constexpr std::uint32_t kNothing = 0;  // the word of a record that is not visible
constexpr unsigned kFormShift = 30;
constexpr std::uint32_t kRest = 1u << 29;
constexpr std::uint32_t kSizeMask = kRest - 1;
constexpr std::size_t kEpochOffset = 4;

std::size_t record_size(std::size_t frame) { return (kSizeField + frame + kAlign - 1) & ~(kAlign - 1); }
std::size_t offset_of(std::uint64_t position) { return static_cast<std::size_t>(position) & (kRingCapacity - 1); }
static_assert((kRingCapacity & (kRingCapacity - 1)) == 0);

// The word is read and written as one value, whatever the other end does meanwhile.
std::atomic_ref<std::uint32_t> word_at(std::uint8_t* record) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(record));
}

// A transfer of a cache line from the other processor takes up to a quarter of a microsecond. So the lines of a short
// record are asked for all at once: by the reader when it sees that they are there, and by the writer while it waits
// for the answer. Long rows of frames need no help.
constexpr std::size_t kLine = 64;
constexpr std::size_t kShort = 4 * kLine;

void fetch_to_read(const std::uint8_t* record, std::size_t size) {
  for (std::size_t at = kLine; at < size + kLine; at += kLine) __builtin_prefetch(record + at);
}

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

std::atomic_ref<std::uint32_t> epoch_at(std::uint8_t* record) { return word_at(record + kEpochOffset); }

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

// A record at `position`, behind those that are there.
void RingWriter::add(std::uint64_t position, std::uint32_t word) {
  if (first_word_ == kNothing) {
    first_word_ = word;  // what stands there is the zero behind the last visible record
  } else {
    word_at(records_ + offset_of(position)).store(word, std::memory_order_relaxed);
  }
}

// The rest of the ring, where the record does not fit into it.
std::size_t RingWriter::skipped_before(std::size_t record) const {
  const std::size_t rest = kRingCapacity - offset_of(head_);
  return record <= rest ? 0 : rest;
}

std::uint8_t* RingWriter::reserve(std::size_t size) {
  if (broken_ || size == 0 || size > wire::kMaxFrame) return nullptr;
  const std::size_t record = record_size(size);
  const std::size_t skipped = skipped_before(record);
  const std::size_t needed = skipped + record + kSizeField;  // with the zero behind it
  if (!has_room(needed) && !(look_at_tail() && has_room(needed))) return nullptr;
  return records_ + offset_of(head_ + skipped) + kSizeField;
}

void RingWriter::commit(std::size_t size, FrameForm form, std::uint32_t epoch) {
  const std::size_t record = record_size(size);
  if (const std::size_t skipped = skipped_before(record); skipped != 0) {
    add(head_, kRest);
    head_ += skipped;
  }
  epoch_at(records_ + offset_of(head_)).store(epoch, std::memory_order_relaxed);
  add(head_, static_cast<std::uint32_t>(size) | static_cast<std::uint32_t>(form) << kFormShift);
  head_ += record;
  word_at(records_ + offset_of(head_)).store(kNothing, std::memory_order_relaxed);
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

bool RingReader::has_frame() const {
  return word_at(records_ + offset_of(tail_)).load(std::memory_order_relaxed) != kNothing;
}

RingReader::Next RingReader::read(std::uint8_t* room, RingRecord* read) {
  if (broken_) return Next::kBroken;
  std::uint64_t at = tail_;
  std::uint32_t word = word_at(records_ + offset_of(at)).load(std::memory_order_seq_cst);
  if (word == kNothing) return Next::kNone;
  if (word == kRest) {
    at += kRingCapacity - offset_of(at);
    word = word_at(records_).load(std::memory_order_relaxed);
  }
  const std::uint32_t form = word >> kFormShift;
  const std::uint32_t length = word & kSizeMask;
  const std::size_t record = record_size(length);
  static_assert(static_cast<unsigned>(FrameForm::kMessage) == UINT32_MAX >> kFormShift);  // any form is one
  if (length == 0 || length > wire::kMaxFrame || (word & kRest) != 0 || record > kRingCapacity - offset_of(at)) {
    broken_ = true;
    return Next::kBroken;
  }
  std::uint8_t* const begin = records_ + offset_of(at);
  if (record <= kShort) fetch_to_read(begin, record);
  const bool stays = static_cast<FrameForm>(form) == FrameForm::kMessage;
  if (!stays) std::memcpy(room, begin + kSizeField, length);
  *read = {stays ? begin + kSizeField : room, length, static_cast<FrameForm>(form),
           epoch_at(begin).load(std::memory_order_relaxed)};
  tail_ = at + record;
  return Next::kFrame;
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
