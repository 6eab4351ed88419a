// Where frames from this process wait for a port: bounded, filled by any thread, emptied by the port's owner.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "link/link.h"

namespace verbs::soft::link {

class FrameQueue {
 public:
  static constexpr std::size_t kCapacity = 1024;

  // `notify` is called when a frame arrives in the empty queue, by the thread that brings it. It must not block, nor
  // come back to this queue.
  explicit FrameQueue(std::function<void()> notify);

  // False if it is full.
  bool push(std::span<const std::uint8_t> frame);
  // Hands at most `budget` frames to `receiver`, which may push here.
  std::size_t drain(Receiver& receiver, std::size_t budget);
  // From here on nothing is kept and nobody notifications: threads that still hold the queue may push in vain.
  void close();

 private:
  static constexpr std::size_t kChunk = 32;  // frames
  struct Slot {
    std::size_t size;
    std::uint8_t bytes[wire::kMaxFrame];
  };
  bool grow();

  std::mutex mutex_;
  std::function<void()> notify_;
  bool open_ = true;
  // Memory grows with the load. Slots that were just emptied are filled first, since they are still in the cache.
  std::vector<std::unique_ptr<Slot[]>> chunks_;
  std::vector<Slot*> free_;
  std::array<Slot*, kCapacity> order_;
  std::size_t head_ = 0;
  std::atomic<std::size_t> count_{0};  // read without the lock by an owner who finds it empty
};

}  // namespace verbs::soft::link
