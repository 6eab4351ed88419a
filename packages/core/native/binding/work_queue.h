// What is known of the posted and not yet completed work requests of one queue (the send or the receive side of a QP).
//
// On the C side a request's wr_id is its number in its queue, so that a completion finds it; the caller's own wrId is
// kept here and given back. The memory regions and address handle of a request stay alive until its completion, or that
// of a later signaled request of the same queue, shows that it is done. Nothing allocates after the construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace verbs::core {

class AddressHandle;
class MemoryRegion;

struct UserId {
  std::uint64_t value = 0;
  bool is_number = false;  // given as a number, not as a bigint
};

class WorkQueue {
 public:
  // `slot` is the queue's place among the queues of its completion queue.
  WorkQueue(std::uint32_t slot, std::uint32_t capacity, std::uint32_t max_sge);

  std::uint32_t slot() const { return slot_; }
  std::uint32_t max_sge() const { return max_sge_; }
  std::uint32_t outstanding() const { return head_ - tail_; }

  // Staging: requests are written one after the other behind the posted ones…
  bool full() const { return head_ + staged_ - tail_ == capacity_; }
  // …and give the wr_id for the C side. Must not be full.
  std::uint64_t Stage(UserId id);
  void Hold(std::shared_ptr<MemoryRegion> region);    // for the request staged last; at most max_sge of them
  void Hold(std::shared_ptr<AddressHandle> address);  // likewise; at most one
  // The first `count` staged requests were taken by the C library; the rest is forgotten.
  void Commit(std::uint32_t count);

  // A completion with this wr_id came: gives the caller's id and lets go of it and all earlier requests.
  UserId Retire(std::uint64_t wr_id);

  // The QP is gone, and so is the adapter's interest in the memory. The caller's ids stay for late completions.
  void ReleaseReferences();

  static std::uint32_t SlotOf(std::uint64_t wr_id) { return static_cast<std::uint32_t>(wr_id >> 32); }

 private:
  struct Entry {
    UserId id;
    std::uint32_t regions = 0;
    std::shared_ptr<AddressHandle> address;
  };
  std::uint32_t IndexOf(std::uint32_t number) const { return number & mask_; }
  void Forget(std::uint32_t number);

  std::uint32_t slot_;
  std::uint32_t capacity_;
  std::uint32_t mask_;
  std::uint32_t max_sge_;
  std::uint32_t head_ = 0;    // number of the next request; wraps around
  std::uint32_t tail_ = 0;    // number of the oldest one that is not known to be done
  std::uint32_t staged_ = 0;  // behind head_
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<MemoryRegion>> regions_;  // max_sge_ for each entry
};

}  // namespace verbs::core
