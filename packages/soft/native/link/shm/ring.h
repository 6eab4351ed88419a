// A ring of frames in memory that two processes share: one end writes frames, the other reads them.
//
// Neither end trusts the other. What the other end writes is read once, into a local variable, and checked before use;
// each end keeps its own position where only it can write. A value that no correct peer writes ends the connection, and
// nothing else. What the reader hands on is its own copy.
//
// There is no common position. Behind the last frame stands a zero where the next frame's size comes, and the writer
// replaces it last: so the reader finds a frame in the cache line in which it has looked for it. Of frames that are
// published together the first one's size comes last, so that they become visible together.
//
// Waking a sleeper. A writer that makes frames visible rings the bell (a socket, which is not the ring's business) only
// if the reader asked for it, and a reader that makes room rings only if the writer asked for room. Both questions are
// the same race: one end stores A and then loads B, the other stores B and then loads A. All four accesses are
// sequentially consistent, so that at least one end sees the store of the other, and no wake-up is lost:
//
//   writer: size = …;       then reads `wanted`       reader: wanted = n;  then reads the size, then sleeps
//   writer: wants_room = 1; then reads `tail`         reader: tail = …;    then reads `wants_room`
//
// `wanted` is even while the reader is awake. Each preparation for a sleep takes the next odd number, and the writer
// rings once for each, so that a reader that is slow to wake costs one system call and not one for each frame.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "link/link.h"
#include "link/offered_memory.h"

namespace verbs::soft::link {

// An offer, as the writer has it. `id` is 0 in places without one.
struct RingOffer {
  std::atomic<std::uint64_t> address;
  std::atomic<std::uint64_t> size;
  std::atomic<std::uint64_t> offset;
  std::atomic<std::uint32_t> fd;
  std::atomic<std::uint32_t> id;
};

// The positions count bytes since the ring began and are multiples of the alignment of a record.
struct RingHeader {
  alignas(128) std::atomic<std::uint64_t> filled;  // written by the writer: the end of the frames when it found no room
  std::atomic<std::uint32_t> wants_room;           // … whether it waits for room
  std::atomic<std::uint32_t> epoch;                // … which references are valid: those of frames with this number
  std::atomic<std::uint32_t> offers_version;       // … changes with `offers`, and is odd meanwhile
  alignas(128) std::atomic<std::uint64_t> tail;  // written by the reader: the end of the last frame that it has copied
  // Written by the reader, and seldom: the writer looks at them for each message, and has them in its cache.
  alignas(128) std::atomic<std::uint32_t> wanted;       // … which bell it asks for
  std::atomic<std::uint32_t> closed;                    // … whether it reads no more
  std::atomic<std::uint32_t> pulls;                     // … whether it can read the writer's memory
  std::atomic<std::uint32_t> messages;                  // … whether it knows the form of messages
  alignas(128) RingOffer offers[OfferedMemory::kMost];  // written by the writer
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

inline constexpr std::size_t kRingOffset = 4096;  // of the records: behind the header's page
static_assert(sizeof(RingHeader) <= kRingOffset);
inline constexpr std::size_t kRingCapacity = 512 << 10;
inline constexpr std::size_t kRingMemory = kRingOffset + kRingCapacity;  // bytes, all zero at the start

// What a ring knows of a frame.
struct RingRecord {
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  FrameForm form = FrameForm::kSealed;
  std::uint32_t epoch = 0;  // when the frame was made
};

class RingWriter {
 public:
  // `memory` has kRingMemory bytes and must outlive the writer.
  explicit RingWriter(std::uint8_t* memory)
      : header_(reinterpret_cast<RingHeader*>(memory)), records_(memory + kRingOffset) {}

  // Puts a frame of at most wire::kMaxFrame bytes behind the others. False: there is no room, or the ring is broken.
  bool write(std::span<const std::uint8_t> frame, FrameForm form = FrameForm::kSealed, std::uint32_t epoch = 0);
  // The same in two steps, for a frame that is made in the ring: where its bytes go, or nullptr. The next write() or
  // commit() is behind the frame before, whatever was reserved meanwhile.
  std::uint8_t* reserve(std::size_t size);
  void commit(std::size_t size, FrameForm form, std::uint32_t epoch);
  // Takes the references of all frames with other numbers back.
  void set_epoch(std::uint32_t epoch);
  // Before the frames that refer to this memory.
  void set_offers(const OfferedMemory::List& offers);
  bool reader_pulls() const { return header_->pulls.load(std::memory_order_relaxed) != 0; }
  bool reader_takes_messages() const { return header_->messages.load(std::memory_order_relaxed) != 0; }
  // Makes the written frames visible. True: the caller must ring.
  bool publish();
  // Something else changed that the reader should look at. True: the caller must ring.
  bool wake();
  bool has_unpublished() const { return head_ != published_; }
  std::size_t unpublished() const { return static_cast<std::size_t>(head_ - published_); }

  // Asks the reader to ring when there is room. The caller tries once more after it.
  void ask_for_room() {
    header_->filled.store(published_, std::memory_order_relaxed);
    header_->wants_room.store(1, std::memory_order_seq_cst);
  }
  // There was room after all.
  void need_no_room() { header_->wants_room.store(0, std::memory_order_relaxed); }

  // The reader wrote what no reader writes. The writer writes no more.
  bool is_broken() const { return broken_; }
  bool is_closed() const { return header_->closed.load(std::memory_order_acquire) != 0; }
  // Whether the reader has ever read a frame.
  bool was_read() { return look_at_tail() && tail_ != 0; }

 private:
  bool has_room(std::uint64_t size) const { return head_ + size - tail_ <= kRingCapacity; }
  std::size_t skipped_before(std::size_t record) const;
  bool look_at_tail();
  void add(std::uint64_t position, std::uint32_t word);

  RingHeader* header_;
  std::uint8_t* records_;
  std::uint64_t head_ = 0;
  std::uint32_t first_word_ = 0;  // of the first record that is not published
  std::uint64_t published_ = 0;
  std::uint64_t tail_ = 0;  // as it was at the last look
  std::uint32_t rung_ = 0;  // the last bell
  std::uint32_t offers_version_ = 0;
  bool broken_ = false;
};

class RingReader {
 public:
  explicit RingReader(std::uint8_t* memory)
      : header_(reinterpret_cast<RingHeader*>(memory)), records_(memory + kRingOffset) {}

  enum class Next : std::uint8_t { kFrame, kNone, kBroken };

  // Whether read() finds a frame.
  bool has_frame() const;
  // Copies the next frame to `room`, which has wire::kMaxFrame bytes. A message stays in the ring, until release(),
  // where the writer may change it. After kBroken there are no more frames.
  Next read(std::uint8_t* room, RingRecord* record);
  // Gives the room of the frames that were read back. True: the caller must ring, because the writer waits for it.
  bool release();
  // Whether there is anything to give back.
  bool has_read() const { return tail_ != released_; }
  // Whether that room is worth it while frames come: each release costs both ends a transfer of a cache line.
  bool has_much_to_release() const { return tail_ - released_ >= kReleasedAtOnce; }

  // Asks for the bell with this number, if it is odd; an even number asks for none. The caller looks for frames after
  // it.
  void want(std::uint32_t number) { header_->wanted.store(number, std::memory_order_seq_cst); }
  // Frames may refer to their payload.
  void pull() { header_->pulls.store(1, std::memory_order_relaxed); }
  // Frames may be messages.
  void take_messages() { header_->messages.store(1, std::memory_order_relaxed); }
  // Which references are still valid, after they have been read.
  std::uint32_t epoch() const;
  std::uint32_t offers_version() const { return header_->offers_version.load(std::memory_order_acquire); }
  // False: they are changing, and `version` is not one that stays.
  bool read_offers(OfferedMemory::List* offers, std::uint32_t* version) const;
  // The writer need not write any more.
  void close() { header_->closed.store(1, std::memory_order_release); }

 private:
  static constexpr std::uint64_t kReleasedAtOnce = 32 << 10;

  RingHeader* header_;
  std::uint8_t* records_;
  std::uint64_t tail_ = 0;
  std::uint64_t released_ = 0;
  bool broken_ = false;
};

// What each message goes through is inline.

namespace ring {

// A record is a word with the size and the form of its frame, the frame's epoch, and the frame. It is not split: where
// it does not fit before the end of the ring, a word alone stands for the rest.
inline constexpr std::size_t kAlign = 8;
inline constexpr std::size_t kSizeField = 8;
inline constexpr std::uint32_t kNothing = 0;  // the word of a record that is not visible
inline constexpr unsigned kFormShift = 30;
inline constexpr std::uint32_t kRest = 1u << 29;
inline constexpr std::uint32_t kSizeMask = kRest - 1;
inline constexpr std::size_t kEpochOffset = 4;

inline std::size_t record_size(std::size_t frame) { return (kSizeField + frame + kAlign - 1) & ~(kAlign - 1); }
inline std::size_t offset_of(std::uint64_t position) {
  return static_cast<std::size_t>(position) & (kRingCapacity - 1);
}
static_assert((kRingCapacity & (kRingCapacity - 1)) == 0);

// The word is read and written as one value, whatever the other end does meanwhile.
inline std::atomic_ref<std::uint32_t> word_at(std::uint8_t* record) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(record));
}

// A transfer of a cache line from the other processor takes up to a quarter of a microsecond. So the lines of a short
// record are asked for all at once: by the reader when it sees that they are there, and by the writer while it waits
// for the answer. Long rows of frames need no help.
inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kShort = 4 * kLine;

inline void fetch_to_read(const std::uint8_t* record, std::size_t size) {
  for (std::size_t at = kLine; at < size + kLine; at += kLine) __builtin_prefetch(record + at);
}

inline std::atomic_ref<std::uint32_t> epoch_at(std::uint8_t* record) { return word_at(record + kEpochOffset); }

}  // namespace ring

// A record at `position`, behind those that are there.
inline void RingWriter::add(std::uint64_t position, std::uint32_t word) {
  if (first_word_ == ring::kNothing) {
    first_word_ = word;  // what stands there is the zero behind the last visible record
  } else {
    ring::word_at(records_ + ring::offset_of(position)).store(word, std::memory_order_relaxed);
  }
}

// The rest of the ring, where the record does not fit into it.
inline std::size_t RingWriter::skipped_before(std::size_t record) const {
  const std::size_t rest = kRingCapacity - ring::offset_of(head_);
  return record <= rest ? 0 : rest;
}

inline std::uint8_t* RingWriter::reserve(std::size_t size) {
  if (broken_ || size == 0 || size > wire::kMaxFrame) return nullptr;
  const std::size_t record = ring::record_size(size);
  const std::size_t skipped = skipped_before(record);
  const std::size_t needed = skipped + record + ring::kSizeField;  // with the zero behind it
  if (!has_room(needed) && !(look_at_tail() && has_room(needed))) return nullptr;
  return records_ + ring::offset_of(head_ + skipped) + ring::kSizeField;
}

inline void RingWriter::commit(std::size_t size, FrameForm form, std::uint32_t epoch) {
  const std::size_t record = ring::record_size(size);
  if (const std::size_t skipped = skipped_before(record); skipped != 0) {
    add(head_, ring::kRest);
    head_ += skipped;
  }
  ring::epoch_at(records_ + ring::offset_of(head_)).store(epoch, std::memory_order_relaxed);
  add(head_, static_cast<std::uint32_t>(size) | static_cast<std::uint32_t>(form) << ring::kFormShift);
  head_ += record;
  ring::word_at(records_ + ring::offset_of(head_)).store(ring::kNothing, std::memory_order_relaxed);
}

inline bool RingReader::has_frame() const {
  return ring::word_at(records_ + ring::offset_of(tail_)).load(std::memory_order_relaxed) != ring::kNothing;
}

inline RingReader::Next RingReader::read(std::uint8_t* room, RingRecord* read) {
  if (broken_) return Next::kBroken;
  std::uint64_t at = tail_;
  std::uint32_t word = ring::word_at(records_ + ring::offset_of(at)).load(std::memory_order_seq_cst);
  if (word == ring::kNothing) return Next::kNone;
  if (word == ring::kRest) {
    at += kRingCapacity - ring::offset_of(at);
    word = ring::word_at(records_).load(std::memory_order_relaxed);
  }
  const std::uint32_t form = word >> ring::kFormShift;
  const std::uint32_t length = word & ring::kSizeMask;
  const std::size_t record = ring::record_size(length);
  static_assert(static_cast<unsigned>(FrameForm::kMessage) == UINT32_MAX >> ring::kFormShift);  // any form is one
  if (length == 0 || length > wire::kMaxFrame || (word & ring::kRest) != 0 ||
      record > kRingCapacity - ring::offset_of(at)) {
    broken_ = true;
    return Next::kBroken;
  }
  std::uint8_t* const begin = records_ + ring::offset_of(at);
  if (record <= ring::kShort) ring::fetch_to_read(begin, record);
  const bool stays = static_cast<FrameForm>(form) == FrameForm::kMessage;
  if (!stays) std::memcpy(room, begin + ring::kSizeField, length);
  *read = {stays ? begin + ring::kSizeField : room, length, static_cast<FrameForm>(form),
           ring::epoch_at(begin).load(std::memory_order_relaxed)};
  tail_ = at + record;
  return Next::kFrame;
}

// Memory that two processes have mapped. It is sealed against any change of its size, so that no access to it can
// fault, whatever the other process does. A forked child does not get it.

class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  // New memory, all zero, and in `fd` its descriptor for the other process, which the caller closes. 0 or errno.
  static int create(std::size_t size, SharedMemory* memory, int* fd);
  // Memory of another process. 0 or errno: EINVAL if it is not sealed memory of this size. The caller closes `fd`.
  static int map(int fd, std::size_t size, SharedMemory* memory);

  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace verbs::soft::link
