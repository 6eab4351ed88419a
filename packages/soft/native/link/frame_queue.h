// Frames from this process that wait for a port: a bounded queue that any thread fills and the port's owner empties. A
// sender that finds it full is told when there is room.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include "link/link.h"

namespace verbs::soft::link {

class FrameQueue {
 public:
  static constexpr std::size_t kCapacity = 1024;

  // `notify` is called when a frame is pushed to the empty queue, by the pushing thread. It must not block and must not
  // call this queue.
  // `neighbour`: the NIC that empties the queue, if it takes whole messages.
  explicit FrameQueue(std::function<void()> notify, std::shared_ptr<Neighbour> neighbour = nullptr);
  const std::shared_ptr<Neighbour>& neighbour() const { return neighbour_; }

  struct Slot {
    std::size_t size;
    FrameForm form;
    std::uint8_t bytes[wire::kMaxFrame];
  };
  using SlotPointer = std::unique_ptr<Slot>;
  // nullptr: there is no memory.
  static SlotPointer make_slot() { return SlotPointer(new (std::nothrow) Slot); }

  enum class Push : std::uint8_t { kTaken, kFull, kClosed };

  // False if it is full or closed.
  bool push(std::span<const std::uint8_t> frame) { return offer(frame, nullptr) == Push::kTaken; }
  // With kFull `sender`, the queue of the port that sends, is announced when there is room.
  Push offer(std::span<const std::uint8_t> frame, const std::shared_ptr<FrameQueue>& sender,
             FrameForm form = FrameForm::kSealed);
  // The frames of all slots, in their order, under one lock and without a copy: each slot changes places with an empty
  // one of the queue. Returns how many were taken; the rest found the queue full (see offer()) or, with *closed,
  // closed.
  std::size_t exchange(std::span<SlotPointer> slots, const std::shared_ptr<FrameQueue>& sender, bool* closed);
  // Hands at most `budget` frames to `receiver`, which may push here.
  std::size_t drain(Receiver& receiver, std::size_t budget);
  // From now on frames are discarded and `notify` is not called: other threads may still hold the queue and push.
  void close();
  bool closed() const { return !open_.load(std::memory_order_relaxed); }
  // Calls `notify`, unless the queue is closed.
  void announce();

 private:
  static constexpr std::size_t kChunk = 32;  // frames
  bool grow();
  bool has_room(const std::shared_ptr<FrameQueue>& sender);
  void insert(SlotPointer& slot, std::size_t count);
  void publish(std::size_t count, std::size_t added);
  void announce_room();

  std::mutex mutex_;
  std::function<void()> notify_;
  const std::shared_ptr<Neighbour> neighbour_;
  std::atomic<bool> open_{true};  // changes under the lock
  // Memory grows with the load. The slots that were emptied last are filled first: they are still in the CPU's cache.
  std::size_t slots_ = 0;  // in free_ and in order_
  std::vector<SlotPointer> free_;
  std::array<SlotPointer, kCapacity> order_;
  std::size_t head_ = 0;
  std::vector<std::weak_ptr<FrameQueue>> senders_;  // that found it full
  std::atomic<std::size_t> count_{0};  // read without the lock by the owner, to see that the queue is empty
};

}  // namespace verbs::soft::link
