// The state of a queue pair's responder: the request in progress, the responses to send, and those to repeat.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nic/base/limits.h"
#include "nic/objects/protection_domain.h"
#include "nic/objects/work_queue.h"
#include "wire/headers.h"

namespace verbs::soft::nic {

// The replay cache of a responder: the requests with a response of their own (READs, atomics, ATOMIC WRITEs and
// FLUSHes) that it executed last. A requester that missed the response sends the request again. Such a duplicate must
// not be executed twice, but for a READ: the responder sends the cached result (IBTA 9.4.5). The cache holds as many
// requests as the requester may have outstanding.
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

// The responses that an RC responder has not sent yet, in PSN order. An acknowledgement covers every request before it,
// so of two unsent ones the later remains. The response to a READ or an atomic acknowledges by itself.

class Pd;

struct Response {
  enum class Kind : std::uint8_t { kAck, kNak, kRead, kAtomic };
  // A queue pair has room for many, so they are small.
  Kind kind = Kind::kAck;
  std::uint8_t syndrome = wire::kAckUnlimitedCredits;
  bool first : 1 = true;       // READ: nothing sent yet
  bool may_refer : 1 = false;  // READ: to the payload
  bool again : 1 = false;      // to a request that came again
  std::uint32_t psn = 0;       // next to send
  std::uint32_t msn = 0;
  std::uint32_t last_psn = 0;   // READ: of its last packet; else psn
  std::uint32_t rkey = 0;       // READ
  std::uint32_t remaining = 0;  // READ: bytes still to send
  const Pd* pd = nullptr;       // READ: the PD that the key must belong to
  std::uint64_t source = 0;     // READ: the address of what comes next; atomic: the value before it

  bool has_result() const { return kind == Kind::kRead || kind == Kind::kAtomic; }
  // Uses one of the responder's max_dest_rd_atomic resources. The requester does not count what the network doubles.
  bool takes_resource() const { return has_result() && !again; }
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
    if (!response.has_result() && count_ > 0) {
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

  // The response to a request that came again, in front of those to later requests. Those stay: the network may have
  // doubled this one request, and the requester does not ask for them again. False: there is no room, or a response has
  // begun.
  bool insert(const Response& response) {
    if (count_ == ring_.size() || (count_ > 0 && !front().first)) return false;
    std::uint32_t place = count_++;
    for (; place > 0 && psn_before(response.psn, at(place - 1).psn); --place) at(place) = at(place - 1);
    at(place) = response;
    if (response.takes_resource()) ++resources_;
    return true;
  }

  // The READ or atomic response packet with `psn` is queued and not sent yet.
  bool holds(std::uint32_t psn) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Response& response = at(i);
      if (response.has_result() && !psn_before(psn, response.psn) && !psn_before(response.last_psn, psn)) return true;
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

// The state of the responder of a receive queue.

class Srq;

struct ResponderState {
  enum class Message : std::uint8_t { kNone, kSend, kWrite };
  std::uint32_t expected_psn = 0;
  std::uint32_t msn = 0;
  bool nak_sent = false;             // no second NAK until the expected PSN or a retransmission arrives
  std::uint32_t last_ahead_psn = 0;  // of the last packet that arrived ahead of the expected PSN
  bool communication_established = false;
  Message message = Message::kNone;  // the message in progress
  std::uint32_t offset = 0;          // bytes of the message so far
  std::uint32_t length = 0;          // WRITE: of the whole message, from its RETH
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;
  bool refers = false;  // READ responses have referred to their payload: the peer may still read it
  ResponseQueue responses;
  ReplayCache replay_cache;
};

// The receive request of the message in progress. A request of the QP's own queue stays its head until it completes.
struct CurrentRecv {
  const RecvWqe* wqe = nullptr;  // nullptr: none
  const ibv_sge* sges = nullptr;
  const Pd* pd = nullptr;              // the PD that the keys of the SGEs must belong to
  Srq* srq = nullptr;                  // where it came from; `wqe` and `sges` are then the QP's copies
  bool tagged = false;                 // … which is its list of tagged buffers
  bool rendezvous = false;             // … and the message only says where its data is
  ibv_wc_opcode opcode = IBV_WC_RECV;  // of a SEND that takes it
};

}  // namespace verbs::soft::nic
