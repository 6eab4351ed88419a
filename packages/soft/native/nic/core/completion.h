// Makes work completions out of work requests.
#pragma once

#include <cstddef>
#include <span>

#include "nic/core/core.h"

namespace verbs::soft::nic {

// Completes the oldest send request. A successful request that is not signaled makes no entry.
void complete_send(Core& core, Qp& qp, ibv_wc_status status);

// What a receive completion reports beyond its status.
struct Received {
  ibv_wc_opcode opcode = IBV_WC_RECV;
  std::uint32_t byte_len = 0;
  __be32 imm_data = 0;
  unsigned flags = 0;
  std::uint32_t src_qp = 0;
  std::uint8_t sl = 0;
  bool solicited = false;
  Tags tags = {};
};

// Completes the request `wr_id`, which was taken out of `srq`, or is the oldest of the QP's own queue (nullptr). False
// when the CQ is full.
bool complete_recv_of(Core& core, Qp& qp, Srq* srq, std::uint64_t wr_id, ibv_wc_status status,
                      const Received& received);
// The same for the receive request of qp.recv (dequeue_recv()), or its tagged buffer.
bool complete_recv(Core& core, Qp& qp, ibv_wc_status status, const Received& received);

// Tag matching (docs of the parts: objects/tag_list.h, responder/tag_matching.h).

// A message is over that has a tagged buffer of `srq`.
bool complete_tagged(Core& core, Qp& qp, Srq& srq, std::uint64_t wr_id, ibv_wc_status status, const Received& received);
// The tagged buffer of qp.recv has matched; its message goes on.
bool note_match(Core& core, Qp& qp, const Received& received);
// The message of qp.recv, which no tagged buffer matched, does not get to the program, or not without an error.
void abandon_unexpected(Qp& qp);
// An operation on the list of `srq` is done. The completion asks for a synchronization if one is needed.
void complete_tag_operation(Core& core, Srq& srq, std::uint64_t wr_id, ibv_wc_status status, ibv_wc_opcode opcode);

// How a queue pair fails: the error state, the send queue error state, and the flush of what is posted.

// Puts a QP into the error state and completes everything in its queues as flushed, in order. Queued responses are
// still sent.
void enter_error(Core& core, Qp& qp);
// The same with an asynchronous event: IBV_EVENT_QP_FATAL, _REQ_ERR or _ACCESS_ERR.
void enter_error(Core& core, Qp& qp, ibv_event_type event);

// Fails the oldest send request. A reliable QP goes to the error state. Any other goes to SQE and receives on until the
// application moves it back to RTS (IBTA 10.3.1.6).
void fail_send(Core& core, Qp& qp, ibv_wc_status status);

// Before the application gets the memory of unanswered requests back: a peer that still has references to it does not
// use what it reads there.
void revoke_references(Core& core, Qp& qp);
// The same for READ responses, too: the QP answers no more.
void revoke_all_references(Core& core, Qp& qp);

// Completes what is posted as flushed.
void flush_sends(Core& core, Qp& qp);
void flush_receives(Core& core, Qp& qp);

// Receive requests as the responder sees them. A message dequeues one when it begins and completes it when it ends.
// Meanwhile qp.recv holds it, so that nothing else needs to know whether it came from the QP's own queue or a shared
// one.

// The request that dequeue_recv() would return; nullptr when none is posted.
const RecvWqe* peek_recv(Qp& qp);

// Moves the oldest request to qp.recv. False when none is posted. May raise the limit event of a shared queue.
bool dequeue_recv(Core& core, Qp& qp);

// Writes bytes to the buffers of qp.recv, from `offset` on. False when a region or its memory is gone.
bool write_to_recv(const Core& core, const Qp& qp, std::size_t offset, std::span<const std::uint8_t> bytes);

}  // namespace verbs::soft::nic
