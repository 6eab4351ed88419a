// Frames from this process that wait for a port: a bounded queue that any thread fills and the port's owner empties.
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

  // `notify` is called when a frame is pushed to the empty queue, by the pushing thread. It must not block and must not
  // call this queue.
  explicit FrameQueue(std::function<void()> notify);

  // False if it is full.
  bool push(std::span<const std::uint8_t> frame);
  // Hands at most `budget` frames to `receiver`, which may push here.
  std::size_t drain(Receiver& receiver, std::size_t budget);
  // From now on frames are discarded and `notify` is not called: other threads may still hold the queue and push.
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
  // Memory grows with the load. The slots that were emptied last are filled first: they are still in the CPU's cache.
  std::vector<std::unique_ptr<Slot[]>> chunks_;
  std::vector<Slot*> free_;
  std::array<Slot*, kCapacity> order_;
  std::size_t head_ = 0;
  std::atomic<std::size_t> count_{0};  // read without the lock by the owner, to see that the queue is empty
};

}  // namespace verbs::soft::link
