// The tagged buffers of a shared receive queue of type TM: a message takes the first whose tag matches its own.
// Adapters have such a list, and programs keep the rest of theirs themselves: rdma-core's tag_matching.md describes how
// both stay in step.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "nic/base/containers.h"

namespace verbs::soft::nic {

// What adapters have (ConnectX-5 and later), but for a longer list.
inline constexpr std::uint32_t kMaxTags = 1023;
inline constexpr std::uint32_t kMaxTagOps = 1u << 15;
inline constexpr std::uint32_t kMaxTagSges = 1;
inline constexpr std::uint32_t kMaxRendezvousRequest = 64;  // bytes, with its headers

struct TaggedBuffer {
  std::uint64_t wr_id = 0;  // of the completions of a message that it takes
  ibv_sge sge{};            // no bytes: there is none
  std::uint64_t tag = 0;
  std::uint64_t mask = 0;
};

class TagList {
 public:
  TagList(std::uint32_t max_tags, std::uint32_t max_ops);

  bool full() const { return count_ == entries_.size(); }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(entries_.size()); }

  // Appends a buffer to the list, which is not full, and returns its handle.
  std::uint32_t add(const TaggedBuffer& buffer);
  // No buffer of this list ever has that handle.
  bool is_foreign(std::uint32_t handle) const { return slot_of(handle) >= capacity(); }
  // False: the buffer has gone to a message, or was removed.
  bool remove(std::uint32_t handle);

  // The handle of the buffer that a message with that tag takes; kNone if none matches.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t match(std::uint64_t tag) const;
  const TaggedBuffer& at(std::uint32_t handle) const { return entries_[slot_of(handle)].buffer; }

  // A message that nothing matched went to the program. A buffer that is added from now on may be the one that the
  // program would have given it, so it is not matched until the program says that it knows of the message.
  void note_unexpected() {
    ++unexpected_;
    in_step_ = false;
  }
  // The last such message does not get there.
  void forget_unexpected() { --unexpected_; }
  // The program knows of so many. As of adapters, 16 bits count: programs may count in as many, or in more.
  void synchronize(std::uint32_t known) {
    in_step_ = static_cast<std::uint16_t>(known) == unexpected_;
    if (in_step_) waiting_ = kEnd;
  }
  bool in_step() const { return in_step_; }
  // Buffers are not matched until then.
  bool waits() const { return waiting_ != kEnd; }

  // Operations whose completions were not polled.
  bool ops_full() const { return ops - ops_released >= max_ops_; }
  std::uint32_t max_ops() const { return max_ops_; }

  std::uint32_t ops = 0;
  std::uint32_t ops_released = 0;  // by the same count

 private:
  static constexpr std::uint32_t kEnd = UINT32_MAX;
  static constexpr std::uint32_t kSlotBits = 10;
  static_assert(kMaxTags <= 1u << kSlotBits);

  struct Entry {
    TaggedBuffer buffer;
    std::uint32_t handle;  // a slot, and how often it was used: a handle does not come again soon
    std::uint32_t next;
    std::uint32_t previous;  // in the list
    bool listed;
  };

  static std::uint32_t slot_of(std::uint32_t handle) { return handle & ((1u << kSlotBits) - 1); }
  std::uint32_t take_slot();

  std::uint32_t max_ops_;
  LazyArray<Entry> entries_;
  std::uint32_t count_ = 0;
  std::uint32_t used_ = 0;        // slots that were ever taken
  std::uint32_t free_ = kEnd;     // a chain of those that were given back
  std::uint32_t first_ = kEnd;    // oldest buffer
  std::uint32_t last_ = kEnd;     // newest
  std::uint32_t waiting_ = kEnd;  // the first of those that are not matched yet: all behind it are not, either
  std::uint16_t unexpected_ = 0;
  bool in_step_ = true;
};

}  // namespace verbs::soft::nic
