// What the callbacks of a context have told and JavaScript has not taken yet, in order: a ring of bytes that grows to
// what was ever in it at once. In the steady state nothing is allocated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace verbs::doca_comm::binding {

// The numbers are those of src/comch/events.ts.
enum class EventKind : std::uint32_t {
  kNone = 0,
  kState = 1,         // number: the context's new state
  kConnected = 2,     // connection
  kDisconnected = 3,  // connection
  kMessage = 4,       // connection; the message's bytes
  kSent = 5,          // connection or 0, number: the DOCA error, cookie
  kConsumerNew = 6,   // connection, number: the consumer's id
  kConsumerGone = 7,  // connection, number: the consumer's id
  kReceived = 8,  // connection: the producer's id, number: the DOCA error, cookie, extra: the length; immediate data
};

struct Event {
  EventKind kind = EventKind::kNone;
  std::uint32_t connection = 0;
  std::uint32_t number = 0;
  std::uint32_t cookie = 0;
  std::uint32_t extra = 0;
  std::uint32_t length = 0;  // of the bytes behind it
};

class EventQueue {
 public:
  bool empty() const { return used_ == 0; }
  // Bytes that it holds.
  std::size_t size() const { return used_; }

  // Throws std::bad_alloc.
  void push(Event event, const std::uint8_t* bytes, std::uint32_t length) {
    event.length = length;
    const std::size_t need = room_of(length);
    if (ring_.size() - used_ < need) grow(used_ + need);
    write(head_ + used_, &event, sizeof event);
    write(head_ + used_ + sizeof event, bytes, length);
    used_ += need;
  }
  Event front() const {
    Event event;
    if (!empty()) read(head_, &event, sizeof event);
    return event;
  }
  void copy_front(const Event& event, std::uint8_t* to) const { read(head_ + sizeof event, to, event.length); }
  void pop(const Event& event) {
    const std::size_t size = room_of(event.length);
    head_ = (head_ + size) & (ring_.size() - 1);
    used_ -= size;
  }
  void clear() { used_ = 0; }

 private:
  static constexpr std::size_t kSmallest = 4096;

  static std::size_t room_of(std::uint32_t length) { return (sizeof(Event) + length + 7) & ~std::size_t{7}; }
  void grow(std::size_t least) {
    std::size_t size = std::max(kSmallest, ring_.size());
    while (size < least) size *= 2;
    std::vector<std::uint8_t> larger(size);
    if (used_ > 0) read(head_, larger.data(), used_);
    ring_.swap(larger);
    head_ = 0;
  }
  // Positions are taken modulo the ring, whose size is a power of two.
  void write(std::size_t at, const void* bytes, std::size_t length) {
    if (length == 0 || bytes == nullptr) return;
    at &= ring_.size() - 1;
    const std::size_t first = std::min(length, ring_.size() - at);
    std::memcpy(ring_.data() + at, bytes, first);
    if (first < length) std::memcpy(ring_.data(), static_cast<const std::uint8_t*>(bytes) + first, length - first);
  }
  void read(std::size_t at, void* to, std::size_t length) const {
    if (length == 0) return;
    at &= ring_.size() - 1;
    const std::size_t first = std::min(length, ring_.size() - at);
    std::memcpy(to, ring_.data() + at, first);
    if (first < length) std::memcpy(static_cast<std::uint8_t*>(to) + first, ring_.data(), length - first);
  }

  std::vector<std::uint8_t> ring_;
  std::size_t head_ = 0;
  std::size_t used_ = 0;
};

}  // namespace verbs::doca_comm::binding
