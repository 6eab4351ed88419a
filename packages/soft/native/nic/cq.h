// Completion queues: a ring of work completions and the arming of its event.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "event.h"

namespace verbs::soft::nic {

class Cq {
 public:
  Cq(int cqe, void* cq_owner) : owner(cq_owner), cqe_(cqe), ring_(static_cast<std::size_t>(cqe)) {}

  // False when the queue is full: the entry is lost and the CQ has overrun (IBV_EVENT_CQ_ERR, once).
  bool push(const ibv_wc& wc, bool solicited, EventSink& events) {
    if (count_ == ring_.size()) {
      if (!overrun_) events.async({IBV_EVENT_CQ_ERR, nullptr, this, 0});
      overrun_ = true;
      return false;
    }
    ring_[tail_] = wc;
    if (++tail_ == ring_.size()) tail_ = 0;
    ++count_;
    if (armed_ == Armed::kAny || (armed_ == Armed::kSolicited && (solicited || wc.status != IBV_WC_SUCCESS))) {
      armed_ = Armed::kNo;
      events.completion(this);
    }
    return true;
  }

  int poll(int count, ibv_wc* wc) {
    int taken = 0;
    while (taken < count && count_ > 0) {
      wc[taken++] = ring_[head_];
      if (++head_ == ring_.size()) head_ = 0;
      --count_;
    }
    return taken;
  }

  // A request for any completion is not weakened by a later one for solicited completions (ibv_req_notify_cq(3)).
  void arm(bool solicited_only) {
    if (!solicited_only) {
      armed_ = Armed::kAny;
    } else if (armed_ == Armed::kNo) {
      armed_ = Armed::kSolicited;
    }
  }

  std::size_t pending() const { return count_; }
  int cqe() const { return cqe_; }

  void* owner;
  std::uint32_t handle = 0;
  std::uint32_t users = 0;  // QPs that complete here

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };
  int cqe_;
  std::vector<ibv_wc> ring_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t count_ = 0;
  Armed armed_ = Armed::kNo;
  bool overrun_ = false;
};

}  // namespace verbs::soft::nic
