// The responses of an RC responder: queued while requests are executed, sent when the scheduler serves the QP.
#pragma once

#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

// Queues a response behind the unsent ones. False when there is no room: the requester asks again.
bool queue_response(Core& core, Qp& qp, const Response& response);

// Queues the response of a READ or an atomic to a request that came again. False as for queue_response().
bool queue_response_again(Core& core, Qp& qp, Response response);

// Acknowledges every request packet up to and including `psn`.
void queue_ack(Core& core, Qp& qp, std::uint32_t psn);

// Sends at most `budget` response packets and returns how many. Fewer than `budget`: none is left.
std::size_t send_responses(Core& core, Qp& qp, std::size_t budget);

// What a responder does with a request that it cannot execute: a NAK on a reliable QP, a dropped message on a UC QP.

// The NAK for a packet with this PSN.
Response make_nak(const Qp& qp, std::uint8_t syndrome, std::uint32_t psn);

// Ends the connection with a NAK for the expected PSN: the receive request in progress completes with
// `receive_status`, and the QP goes to the error state with an asynchronous event. `why` is the reason, for people. A
// UC QP drops the message instead, unless the fault is its own (kNakRemoteOperational: the memory of its receive
// request).
[[gnu::cold]] void nak_fatal(Core& core, Qp& qp, std::uint8_t syndrome, ibv_wc_status receive_status, const Why& why);
[[gnu::cold]] void nak_invalid_request(Core& core, Qp& qp, const Why& why);
[[gnu::cold]] void nak_remote_access(Core& core, Qp& qp, const Why& why);

// The memory of a READ is gone since the request was accepted: ends the connection with a NAK for the response with
// this PSN. The responses behind it are not sent.
void nak_lost_read(Core& core, Qp& qp, std::uint32_t psn, const Why& why);

// PSN sequence error NAK: a packet arrived ahead of the expected PSN, and something before it is missing.
void nak_sequence_error(Core& core, Qp& qp);

// The payload that a packet refers to could not be read: the requester sends it, from the expected PSN on.
void nak_unread(Core& core, Qp& qp);

// RNR NAK: no receive request is posted, so the requester tries again after the QP's RNR timer. UC drops the message,
// of which this packet has `size` bytes.
void nak_receiver_not_ready(Core& core, Qp& qp, std::size_t size);

// Drops the message in progress of a UC QP. A receive request of the QP's own queue waits for the next message; one
// from a shared queue cannot be put back and completes with `receive_status`.
void drop_message(Core& core, Qp& qp, ibv_wc_status receive_status, const Why& why);

// Requests that must not be executed twice, whatever is lost: atomics, ATOMIC WRITE and FLUSH. Their results go to the
// replay cache, and a duplicate request gets the cached result (IBTA 9.4.5).

// Whether the QP allows such requests with all of `rights` (ibv_qp_attr.qp_access_flags).
bool allows(const Qp& qp, unsigned rights);

// As many responses are queued as the requester may have outstanding. The request is dropped; it comes again.
bool is_out_of_resources(const Qp& qp);

// The request at the expected PSN was executed: caches the result and responds.
void respond_and_cache(Core& core, Qp& qp, const Packet& packet, std::uint64_t original);

// A duplicate request: sends the cached result. Drops a request that is too old to be in the cache.
void replay(Core& core, Qp& qp, const Packet& packet);

}  // namespace verbs::soft::nic
