#include "link/frame_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "link/neighbour.h"

namespace verbs::soft::link {

FrameQueue::FrameQueue(std::function<void()> notify, std::shared_ptr<Neighbour> neighbour)
    : notify_(std::move(notify)), neighbour_(std::move(neighbour)) {
  free_.reserve(kCapacity);
  grow();
}

bool FrameQueue::grow() {
  for (std::size_t i = 0; i < kChunk && slots_ < kCapacity; ++i) {
    SlotPointer slot = make_slot();
    if (!slot) break;
    free_.push_back(std::move(slot));
    ++slots_;
  }
  return !free_.empty();
}

// False: `sender` is told when there is room.
bool FrameQueue::has_room(const std::shared_ptr<FrameQueue>& sender) {
  if (!free_.empty() || grow()) return true;
  const auto known = [&](const std::weak_ptr<FrameQueue>& other) { return other.lock() == sender; };
  if (sender && std::none_of(senders_.begin(), senders_.end(), known)) senders_.push_back(sender);
  return false;
}

// `slot` changes places with an empty slot; the frame is the one behind the `count` that wait.
void FrameQueue::insert(SlotPointer& slot, std::size_t count) {
  SlotPointer& place = order_[(head_ + count) % kCapacity];
  place.swap(slot);
  slot.swap(free_.back());
  free_.pop_back();
}

// The owner may take `added` frames behind the first `count`.
void FrameQueue::publish(std::size_t count, std::size_t added) {
  // Sequentially consistent with the owner's preparation to sleep: either the owner sees the frames, or `notify` sees
  // that the owner sleeps.
  count_.store(count + added, count == 0 ? std::memory_order_seq_cst : std::memory_order_release);
  // Under the lock, so that no call comes after close().
  if (count == 0 && notify_) notify_();
}

FrameQueue::Push FrameQueue::offer(std::span<const std::uint8_t> frame, const std::shared_ptr<FrameQueue>& sender,
                                   FrameForm form) {
  if (frame.size() > wire::kMaxFrame) return Push::kClosed;
  const std::lock_guard lock(mutex_);
  if (!open_) return Push::kClosed;
  if (!has_room(sender)) return Push::kFull;
  Slot& slot = *free_.back();
  slot.size = frame.size();
  slot.form = form;
  std::memcpy(slot.bytes, frame.data(), frame.size());
  const std::size_t count = count_.load(std::memory_order_relaxed);
  order_[(head_ + count) % kCapacity].swap(free_.back());
  free_.pop_back();
  publish(count, 1);
  return Push::kTaken;
}

std::size_t FrameQueue::exchange(std::span<SlotPointer> slots, const std::shared_ptr<FrameQueue>& sender,
                                 bool* closed) {
  const std::lock_guard lock(mutex_);
  *closed = !open_;
  if (!open_) return 0;
  const std::size_t count = count_.load(std::memory_order_relaxed);
  std::size_t taken = 0;
  while (taken < slots.size() && (!free_.empty() || has_room(sender))) {
    insert(slots[taken], count + taken);
    ++taken;
  }
  if (taken > 0) publish(count, taken);
  return taken;
}

std::size_t FrameQueue::drain(Receiver& receiver, std::size_t budget) {
  std::size_t taken = 0;
  bool has_senders = false;
  std::size_t waiting = count_.load(std::memory_order_seq_cst);
  while (taken < budget && waiting > 0) {
    // Frames are counted until they have been read, so that a push meanwhile does not notify. Only the owner changes
    // head_ and removes from order_: both are read without the lock.
    const std::size_t batch = std::min({waiting, budget - taken, kChunk});
    for (std::size_t i = 0; i < batch; ++i) {
      const Slot* slot = order_[(head_ + i) % kCapacity].get();
      receiver.deliver_as(slot->form, {slot->bytes, slot->size});
    }
    taken += batch;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < batch; ++i) free_.push_back(std::move(order_[(head_ + i) % kCapacity]));
    head_ = (head_ + batch) % kCapacity;
    waiting = count_.load(std::memory_order_relaxed) - batch;
    count_.store(waiting, std::memory_order_release);
    has_senders = !senders_.empty();
  }
  // Not for each free slot: the senders would wake for a frame at a time.
  if (has_senders && waiting <= kCapacity / 2) announce_room();
  return taken;
}

// Without the lock of this queue: a port that sends to itself is its own sender, and two ports may send to each other.
void FrameQueue::announce_room() {
  std::vector<std::weak_ptr<FrameQueue>> senders;
  {
    const std::lock_guard lock(mutex_);
    senders.swap(senders_);
  }
  for (const std::weak_ptr<FrameQueue>& sender : senders) {
    if (const auto queue = sender.lock()) queue->announce();
  }
}

void FrameQueue::announce() {
  const std::lock_guard lock(mutex_);
  if (notify_) notify_();
}

void FrameQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    notify_ = nullptr;
  }
  announce_room();
}

}  // namespace verbs::soft::link
