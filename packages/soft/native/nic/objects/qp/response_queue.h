// The responses that an RC responder has not sent yet, in PSN order. An acknowledgement covers every request before it,
// so of two unsent ones the later remains. The response to a READ or an atomic acknowledges by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "nic/shared/psn.h"
#include "wire/headers.h"

namespace verbs::soft::nic {

class Pd;

struct Response {
  enum class Kind : std::uint8_t { kAck, kNak, kRead, kAtomic };
  // A queue pair has room for many, so they are small.
  Kind kind = Kind::kAck;
  std::uint8_t syndrome = wire::kAckUnlimitedCredits;
  bool first = true;       // READ: nothing sent yet
  bool may_refer = false;  // READ: to the payload
  std::uint32_t psn = 0;   // next to send
  std::uint32_t msn = 0;
  std::uint32_t last_psn = 0;   // READ: of its last packet; else psn
  std::uint32_t rkey = 0;       // READ
  std::uint32_t remaining = 0;  // READ: bytes still to send
  const Pd* pd = nullptr;       // READ: the PD that the key must belong to
  std::uint64_t source = 0;     // READ: the address of what comes next; atomic: the value before it

  // Uses one of the responder's max_dest_rd_atomic resources.
  bool takes_resource() const { return kind == Kind::kRead || kind == Kind::kAtomic; }
};
static_assert(sizeof(Response) <= 40);

class ResponseQueue {
 public:
  enum class Push : std::uint8_t { kQueued, kMerged, kFull };

  // Makes room for `resources` READs and atomics with an acknowledgement or NAK around each. Drops what is queued.
  void allocate(std::uint32_t resources) {
    ring_.assign(2 * static_cast<std::size_t>(resources) + 4, Response{});
    clear();
  }

  bool empty() const { return count_ == 0; }
  Response& front() { return at(0); }
  // How many queued responses use a resource.
  std::uint32_t resources() const { return resources_; }

  void pop() {
    if (front().takes_resource()) --resources_;
    if (++head_ == ring_.size()) head_ = 0;
    --count_;
  }

  void clear() { head_ = count_ = resources_ = 0; }

  // An acknowledgement of every request packet up to and including `psn`, as push() would queue it. False: there is no
  // unsent one that it could replace.
  bool merge_ack(std::uint32_t psn, std::uint32_t msn) {
    if (count_ == 0) return false;
    Response& last = at(count_ - 1);
    if (last.kind != Response::Kind::kAck) return false;
    if (psn_before(last.psn, psn)) {
      last.psn = last.last_psn = psn;
      last.msn = msn;
    }
    return true;
  }

  // kMerged: an unsent acknowledgement or NAK covers the new one. kFull: dropped, so the requester asks again.
  Push push(const Response& response) {
    if (!response.takes_resource() && count_ > 0) {
      Response& last = at(count_ - 1);
      if (last.kind == Response::Kind::kAck) {
        if (psn_before(last.psn, response.psn)) last = response;
        return Push::kMerged;
      }
      if (last.kind == Response::Kind::kNak && last.psn == response.psn) return Push::kMerged;
    }
    if (count_ == ring_.size()) return Push::kFull;
    at(count_++) = response;
    if (response.takes_resource()) ++resources_;
    return Push::kQueued;
  }

  // The READ or atomic response packet with `psn` is queued and not sent yet.
  bool holds(std::uint32_t psn) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Response& response = at(i);
      if (response.takes_resource() && !psn_before(psn, response.psn) && !psn_before(response.last_psn, psn))
        return true;
    }
    return false;
  }

  // The requester retransmits from `psn` on: it will ask again for every later response.
  void drop_from(std::uint32_t psn) {
    while (count_ > 0) {
      const Response& last = at(count_ - 1);
      if (psn_before(last.last_psn, psn)) return;
      if (last.takes_resource()) --resources_;
      --count_;
    }
  }

 private:
  Response& at(std::uint32_t index) {
    const std::uint32_t slot = head_ + index;
    const auto size = static_cast<std::uint32_t>(ring_.size());
    return ring_[slot < size ? slot : slot - size];
  }

  std::vector<Response> ring_;
  std::uint32_t head_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t resources_ = 0;
};

}  // namespace verbs::soft::nic
