// What an RC responder owes, in PSN order. An acknowledgement covers everything before it, so a new one takes the place
// of an unsent one; a READ's or an atomic's response acknowledges by itself.
#pragma once

#include <cstdint>

#include "nic/objects/qp/qp.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {

class ResponseRing {
 public:
  explicit ResponseRing(ResponderState& state) : state_(state) {}

  // Room for `resources` READs and atomics with an acknowledgement or NAK around each.
  void allocate(std::uint32_t resources) {
    state_.ring.assign(2 * static_cast<std::size_t>(resources) + 4, Response{});
    clear();
  }

  bool empty() const { return state_.ring_count == 0; }
  Response& front() { return at(0); }

  void pop() {
    if (front().takes_resource()) --state_.resources;
    state_.ring_head = (state_.ring_head + 1) % static_cast<std::uint32_t>(state_.ring.size());
    --state_.ring_count;
  }

  void clear() { state_.ring_head = state_.ring_count = state_.resources = 0; }

  // False when there is no room: the requester asks again.
  bool push(const Response& response) {
    if (!response.takes_resource() && state_.ring_count > 0) {
      Response& last = at(state_.ring_count - 1);
      if (last.kind == Response::Kind::kAck) {
        last = response;
        return true;
      }
      if (last.kind == Response::Kind::kNak && last.psn == response.psn) return true;
    }
    if (state_.ring_count == state_.ring.size()) return false;
    at(state_.ring_count++) = response;
    if (response.takes_resource()) ++state_.resources;
    return true;
  }

  // The response packet with `psn` is queued and has not gone yet.
  bool owes(std::uint32_t psn) {
    for (std::uint32_t i = 0; i < state_.ring_count; ++i) {
      const Response& response = at(i);
      if (response.takes_resource() && !psn_before(psn, response.psn) && !psn_before(response.last_psn, psn))
        return true;
    }
    return false;
  }

  // The requester repeats from `psn` on: what was to follow will be asked for again.
  void drop_from(std::uint32_t psn) {
    while (state_.ring_count > 0) {
      const Response& last = at(state_.ring_count - 1);
      if (psn_before(last.last_psn, psn)) return;
      if (last.takes_resource()) --state_.resources;
      --state_.ring_count;
    }
  }

 private:
  Response& at(std::uint32_t index) {
    return state_.ring[(state_.ring_head + index) % static_cast<std::uint32_t>(state_.ring.size())];
  }

  ResponderState& state_;
};

}  // namespace verbs::soft::nic
