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
  // READs: the PSNs whose payload responses have only referred to. The requester may ask for it still.
  std::uint32_t referred_psn = 0;
  std::uint32_t referred_end = 0;

  void add_referred(std::uint32_t from, std::uint32_t end) {
    if (referred_psn == referred_end) referred_psn = referred_end = from;
    if (psn_before(referred_end, end)) referred_end = end;
  }
  // The payload is sent up to there: the requester asks in order.
  void remove_referred(std::uint32_t end) {
    if (referred_psn != referred_end && psn_before(referred_psn, end)) {
      referred_psn = psn_before(end, referred_end) ? end : referred_end;
    }
  }
  bool has_referred(std::uint32_t at) const { return !psn_before(at, referred_psn) && psn_before(at, referred_end); }
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

  // The newest request that begins at `psn` or before it: of which that is a part, if it is of one in the cache.
  ReplayEntry* find_last(std::uint32_t psn) {
    for (std::size_t age = 0; age < count_; ++age) {
      if (!psn_before(psn, newest(age).psn)) return &ring_[place(age)];
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
  std::size_t place(std::size_t age) const { return (next_ + ring_.size() - 1 - age) % ring_.size(); }
  const ReplayEntry& newest(std::size_t age) const { return ring_[place(age)]; }

  std::vector<ReplayEntry> ring_;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace verbs::soft::nic
