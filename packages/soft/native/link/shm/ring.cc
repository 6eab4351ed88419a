#include "link/shm/ring.h"

#include <cstring>

namespace verbs::soft::link {
namespace {

// A record is the size, the form and the epoch of its frame, and the frame. It is not split: where it does not fit
// before the end of the ring, a record of size 0 stands for the rest.
constexpr std::size_t kAlign = 8;
constexpr std::size_t kSizeField = 8;
constexpr unsigned kFormShift = 30;  // the form is in the upper bits of the size
constexpr std::uint32_t kSizeMask = (1u << kFormShift) - 1;
constexpr std::size_t kEpochOffset = 4;

std::size_t record_size(std::size_t frame) { return (kSizeField + frame + kAlign - 1) & ~(kAlign - 1); }
std::size_t offset_of(std::uint64_t position) { return static_cast<std::size_t>(position) & (kRingCapacity - 1); }
static_assert((kRingCapacity & (kRingCapacity - 1)) == 0);

// The size field is read and written as one value, whatever the other end does meanwhile.
std::atomic_ref<std::uint32_t> size_at(std::uint8_t* record) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(record));
}

// A transfer of a cache line from the other processor takes up to a quarter of a microsecond. So the lines of a message
// and an acknowledgement are asked for all at once: by the reader when it sees that they are there, and by the writer
// while it waits for the answer. Long rows of frames need no help.
constexpr std::size_t kLine = 64;
constexpr std::size_t kShort = 4 * kLine;

void fetch_to_read(const std::uint8_t* records, std::uint64_t from, std::uint64_t to) {
  if (to - from > kShort) return;
  for (std::uint64_t at = from - from % kLine; at < to; at += kLine) __builtin_prefetch(records + offset_of(at));
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

std::atomic_ref<std::uint32_t> epoch_at(std::uint8_t* record) { return size_at(record + kEpochOffset); }

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
  if (broken_ || frame.empty() || frame.size() > wire::kMaxFrame) return false;
  const std::size_t size = record_size(frame.size());
  const std::size_t rest = kRingCapacity - offset_of(head_);
  const std::size_t skipped = size <= rest ? 0 : rest;
  if (!has_room(skipped + size) && !(look_at_tail() && has_room(skipped + size))) return false;
  if (skipped != 0) {
    size_at(records_ + offset_of(head_)).store(0, std::memory_order_relaxed);
    head_ += skipped;
  }
  std::uint8_t* record = records_ + offset_of(head_);
  const std::uint32_t flags = static_cast<std::uint32_t>(form) << kFormShift;
  size_at(record).store(static_cast<std::uint32_t>(frame.size()) | flags, std::memory_order_relaxed);
  epoch_at(record).store(epoch, std::memory_order_relaxed);
  std::memcpy(record + kSizeField, frame.data(), frame.size());
  head_ += size;
  return true;
}

bool RingWriter::publish() {
  if (published_ == head_) return false;
  const bool is_short = unpublished() <= kShort;
  published_ = head_;
  header_->head.store(head_, std::memory_order_seq_cst);
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

bool RingReader::look_at_head() {
  const std::uint64_t head = header_->head.load(std::memory_order_seq_cst);
  if (head - tail_ > kRingCapacity || head % kAlign != 0) {
    broken_ = true;
    return false;
  }
  head_ = head;
  fetch_to_read(records_, tail_, head_);
  return head_ != tail_;
}

RingReader::Next RingReader::read(std::uint8_t* room, RingRecord* read) {
  if (broken_) return Next::kBroken;
  if (head_ == tail_ && !look_at_head()) return broken_ ? Next::kBroken : Next::kNone;
  std::uint64_t at = tail_;
  std::uint32_t length = size_at(records_ + offset_of(at)).load(std::memory_order_relaxed);
  if (length == 0) {  // the rest of the ring is not used
    at += kRingCapacity - offset_of(at);
    if (offset_of(tail_) != 0 && head_ - tail_ > at - tail_) length = size_at(records_).load(std::memory_order_relaxed);
  }
  const std::uint32_t form = length >> kFormShift;
  length &= kSizeMask;
  const std::size_t record = record_size(length);
  if (length == 0 || length > wire::kMaxFrame || form > static_cast<std::uint32_t>(FrameForm::kReferring) ||
      record > head_ - at || record > kRingCapacity - offset_of(at)) {
    broken_ = true;
    return Next::kBroken;
  }
  std::memcpy(room, records_ + offset_of(at) + kSizeField, length);
  *read = {length, static_cast<FrameForm>(form), epoch_at(records_ + offset_of(at)).load(std::memory_order_relaxed)};
  tail_ = at + record;
  return Next::kFrame;
}

bool RingReader::release() {
  if (released_ == tail_) return false;
  released_ = tail_;
  header_->tail.store(tail_, std::memory_order_seq_cst);
  // Not for each bit of room: the writer would wake for a frame at a time. A ring with frames is read again soon.
  if (header_->wants_room.load(std::memory_order_seq_cst) == 0 || head_ - tail_ > kRingCapacity / 2) return false;
  header_->wants_room.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace verbs::soft::link
