// The state of the requester and the completer of a send queue.
#pragma once

#include <cstdint>
#include <vector>

#include "nic/objects/qp/congestion_window.h"
#include "nic/objects/qp/round_trip.h"
#include "nic/shared/time.h"

namespace verbs::soft::nic {

// The PSNs of one outstanding response: to a READ piece, an atomic, an ATOMIC WRITE or a FLUSH.
struct OutstandingResponse {
  std::uint32_t first_psn;
  std::uint32_t last_psn;
};

struct RequesterState {
  std::uint32_t next_psn = 0;   // for the next request that starts
  std::uint32_t send_psn = 0;   // of the next packet to send; behind max_psn while retransmitting
  std::uint32_t max_psn = 0;    // one after the highest PSN ever sent
  std::uint32_t una_psn = 0;    // oldest unacknowledged
  std::uint32_t position = 0;   // send queue position of the request that send_psn belongs to
  std::uint32_t packet = 0;     // index of the packet with send_psn in that request
  bool refers = false;          // unanswered packets refer to their payload, or their responses may
  std::uint8_t by_payload = 0;  // messages until the next one may: an end could not read it
  std::uint32_t since_ack_request = 0;
  Nanos ack_request_due = 0;  // from then on an unsignaled message asks for an acknowledgement too
  // Requests with a response of their own (work_request.h) that started and are not complete. A fence waits for them.
  std::uint32_t unanswered_requests = 0;
  std::uint8_t retries_left = 0;
  std::uint8_t rnr_retries_left = 0;
  bool waiting_rnr = false;
  std::uint8_t rnr_naks = 0;       // in a row
  bool recovering = false;         // retransmitting since una_psn
  std::uint32_t recovery_psn = 0;  // while recovering: the first PSN that is no retransmission
  CongestionWindow congestion_window;
  RoundTrip round_trip;
  Nanos ack_deadline = kNever;           // when the ACK timeout expires; the timer may fire before it, for a probe
  std::uint8_t probes = 0;               // since the last acknowledgement
  bool timed_out = false;                // the ACK timeout expired since then
  std::uint64_t retransmitted_pkts = 0;  // of this queue pair, as the device's counters
  std::uint64_t rcvd_rnr_err = 0;
  // Oldest first, at most max_rd_atomic.
  std::vector<OutstandingResponse> outstanding;
};

}  // namespace verbs::soft::nic
