#include "nic/objects/tag_list.h"

namespace verbs::soft::nic {

TagList::TagList(std::uint32_t max_tags, std::uint32_t max_ops) : max_ops_(max_ops) { entries_.allocate(max_tags); }

std::uint32_t TagList::take_slot() {
  if (free_ == kEnd) {
    entries_[used_].handle = used_;
    return used_++;
  }
  const std::uint32_t slot = free_;
  free_ = entries_[slot].next;
  entries_[slot].handle += 1u << kSlotBits;
  return slot;
}

std::uint32_t TagList::add(const TaggedBuffer& buffer) {
  const std::uint32_t slot = take_slot();
  Entry& entry = entries_[slot];
  entry = {.buffer = buffer, .handle = entry.handle, .next = kEnd, .previous = last_, .listed = true};
  (last_ == kEnd ? first_ : entries_[last_].next) = slot;
  last_ = slot;
  if (!in_step_ && waiting_ == kEnd) waiting_ = slot;
  ++count_;
  return entry.handle;
}

bool TagList::remove(std::uint32_t handle) {
  const std::uint32_t slot = slot_of(handle);
  Entry& entry = entries_[slot];
  if (!entry.listed || entry.handle != handle) return false;
  (entry.previous == kEnd ? first_ : entries_[entry.previous].next) = entry.next;
  (entry.next == kEnd ? last_ : entries_[entry.next].previous) = entry.previous;
  if (waiting_ == slot) waiting_ = entry.next;
  entry.listed = false;
  entry.next = free_;
  free_ = slot;
  --count_;
  return true;
}

std::uint32_t TagList::match(std::uint64_t tag) const {
  for (std::uint32_t slot = first_; slot != waiting_; slot = entries_[slot].next) {
    const TaggedBuffer& buffer = entries_[slot].buffer;
    if ((tag & buffer.mask) == buffer.tag) return entries_[slot].handle;
  }
  return kNone;
}

}  // namespace verbs::soft::nic
