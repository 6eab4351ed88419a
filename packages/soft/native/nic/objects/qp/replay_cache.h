// The replay cache of a responder: the results of the atomics, ATOMIC WRITEs and FLUSHes that it executed last. A
// requester that missed the response sends the request again. Such a duplicate request must not be executed twice: the
// responder sends the cached result (IBTA 9.4.5). The cache holds as many results as the requester may have
// outstanding requests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace verbs::soft::nic {

struct ReplayEntry {
  std::uint32_t psn;
  std::uint8_t opcode;
  std::uint64_t original;
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

 private:
  const ReplayEntry& newest(std::size_t age) const { return ring_[(next_ + ring_.size() - 1 - age) % ring_.size()]; }

  std::vector<ReplayEntry> ring_;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace verbs::soft::nic
