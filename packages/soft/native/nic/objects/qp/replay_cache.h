// The replay cache of a responder: the requests with a response of their own (READs, atomics, ATOMIC WRITEs and
// FLUSHes) that it executed last. A requester that missed the response sends the request again. Such a duplicate must
// not be executed twice, but for a READ: the responder sends the cached result (IBTA 9.4.5). The cache holds as many
// requests as the requester may have outstanding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nic/shared/psn.h"

namespace verbs::soft::nic {

struct ReplayEntry {
  std::uint32_t psn;  // the first of the request
  std::uint8_t opcode;
  std::uint64_t original;  // atomics: the value before
};

class ReplayCache {
 public:
  // Keeps the newest entries that fit.
  void allocate(std::size_t capacity) {
    std::vector<ReplayEntry> kept;
    kept.reserve(capacity);
    for (std::size_t age = std::min(count_, capacity); age > 0; --age) kept.push_back(newest(age - 1));
    count_ = kept.size();
    kept.resize(capacity);
    ring_ = std::move(kept);
    next_ = count_ < capacity ? count_ : 0;
  }

  void add(const ReplayEntry& entry) {
    ring_[next_] = entry;
    if (++next_ == ring_.size()) next_ = 0;
    count_ = std::min(count_ + 1, ring_.size());
  }

  // nullptr: the request was never executed here, or is too old.
  const ReplayEntry* find(std::uint32_t psn, std::uint8_t opcode) const {
    for (std::size_t age = 0; age < count_; ++age) {
      if (newest(age).psn == psn && newest(age).opcode == opcode) return &newest(age);
    }
    return nullptr;
  }

  // The PSN of the first request after `psn` and before `end`; `end` if there is none.
  std::uint32_t first_between(std::uint32_t psn, std::uint32_t end) const {
    std::uint32_t first = end;
    for (std::size_t age = 0; age < count_; ++age) {
      const std::uint32_t candidate = newest(age).psn;
      if (psn_before(psn, candidate) && psn_before(candidate, first)) first = candidate;
    }
    return first;
  }

 private:
  const ReplayEntry& newest(std::size_t age) const { return ring_[(next_ + ring_.size() - 1 - age) % ring_.size()]; }

  std::vector<ReplayEntry> ring_;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace verbs::soft::nic
