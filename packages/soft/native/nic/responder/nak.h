// What a responder does with a request that it cannot execute: a NAK on a reliable QP, a dropped message on a UC QP.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// The NAK for a packet with this PSN.
Response make_nak(const Qp& qp, std::uint8_t syndrome, std::uint32_t psn);

// Ends the connection with a NAK for the expected PSN: the receive request in progress completes with
// `receive_status`, and the QP goes to the error state with an asynchronous event. A UC QP drops the message instead,
// unless the fault is its own (kNakRemoteOperational: the memory of its receive request).
void nak_fatal(Core& core, Qp& qp, std::uint8_t syndrome, ibv_wc_status receive_status);
void nak_invalid_request(Core& core, Qp& qp);
void nak_remote_access(Core& core, Qp& qp);

// The memory of a READ is gone since the request was accepted: ends the connection with a NAK for the response with
// this PSN. The responses behind it are not sent.
void nak_lost_read(Core& core, Qp& qp, std::uint32_t psn);

// PSN sequence error NAK: a packet arrived ahead of the expected PSN, and something before it is missing.
void nak_sequence_error(Core& core, Qp& qp);

// The payload that a packet refers to could not be read: the requester sends it, from the expected PSN on.
void nak_unread(Core& core, Qp& qp);

// RNR NAK: no receive request is posted, so the requester tries again after the QP's RNR timer. UC drops the message.
void nak_receiver_not_ready(Core& core, Qp& qp);

// Drops the message in progress of a UC QP. A receive request of the QP's own queue waits for the next message; one
// from a shared queue cannot be put back and completes with `receive_status`.
void drop_message(Core& core, Qp& qp, ibv_wc_status receive_status);

}  // namespace verbs::soft::nic
