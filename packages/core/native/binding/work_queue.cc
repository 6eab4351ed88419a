#include "work_queue.h"

#include <algorithm>
#include <bit>

namespace verbs::core {

WorkQueue::WorkQueue(std::uint32_t slot, std::uint32_t capacity, std::uint32_t max_sge)
    : slot_(slot),
      capacity_(capacity),
      mask_(std::bit_ceil(std::max(capacity, 1u)) - 1),
      max_sge_(max_sge),
      entries_(static_cast<std::size_t>(mask_) + 1),
      regions_(entries_.size() * max_sge) {}

std::uint64_t WorkQueue::Stage(UserId id) {
  const std::uint32_t number = head_ + staged_++;
  entries_[IndexOf(number)].id = id;
  return std::uint64_t{slot_} << 32 | number;
}

void WorkQueue::Hold(std::shared_ptr<MemoryRegion> region) {
  const std::uint32_t index = IndexOf(head_ + staged_ - 1);
  Entry& entry = entries_[index];
  regions_[std::size_t{index} * max_sge_ + entry.regions++] = std::move(region);
}

void WorkQueue::Hold(std::shared_ptr<AddressHandle> address) {
  entries_[IndexOf(head_ + staged_ - 1)].address = std::move(address);
}

void WorkQueue::Commit(std::uint32_t count) {
  for (std::uint32_t i = count; i < staged_; i++) Forget(head_ + i);
  head_ += count;
  staged_ = 0;
}

UserId WorkQueue::Retire(std::uint64_t wr_id) {
  const auto number = static_cast<std::uint32_t>(wr_id);
  // A wr_id outside of what is outstanding would be the C library's error; the numbers wrap, so compare distances.
  if (number - tail_ >= head_ - tail_) return {};
  const UserId id = entries_[IndexOf(number)].id;
  while (tail_ != number + 1) Forget(tail_++);
  return id;
}

void WorkQueue::ReleaseReferences() {
  for (std::uint32_t number = tail_; number != head_; number++) Forget(number);
}

void WorkQueue::Forget(std::uint32_t number) {
  const std::uint32_t index = IndexOf(number);
  Entry& entry = entries_[index];
  for (std::uint32_t i = 0; i < entry.regions; i++) regions_[std::size_t{index} * max_sge_ + i].reset();
  entry.regions = 0;
  entry.address.reset();
}

}  // namespace verbs::core
