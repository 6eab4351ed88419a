// What atomic operations returned. A requester that missed the answer asks again, and an atomic operation must not be
// executed twice: it gets the saved result. As many are kept as it may have outstanding (IBTA 9.4.5).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace verbs::soft::nic {

struct SavedResult {
  std::uint32_t psn;
  std::uint8_t opcode;
  std::uint64_t original;
};

class SavedResults {
 public:
  // The newest ones stay.
  void allocate(std::size_t capacity) {
    std::vector<SavedResult> kept;
    kept.reserve(capacity);
    for (std::size_t age = std::min(count_, capacity); age > 0; --age) kept.push_back(newest(age - 1));
    count_ = kept.size();
    kept.resize(capacity);
    ring_ = std::move(kept);
    next_ = count_ < capacity ? count_ : 0;
  }

  void add(const SavedResult& result) {
    ring_[next_] = result;
    if (++next_ == ring_.size()) next_ = 0;
    count_ = std::min(count_ + 1, ring_.size());
  }

  const SavedResult* find(std::uint32_t psn, std::uint8_t opcode) const {
    for (std::size_t age = 0; age < count_; ++age) {
      if (newest(age).psn == psn && newest(age).opcode == opcode) return &newest(age);
    }
    return nullptr;
  }

 private:
  const SavedResult& newest(std::size_t age) const { return ring_[(next_ + ring_.size() - 1 - age) % ring_.size()]; }

  std::vector<SavedResult> ring_;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace verbs::soft::nic
