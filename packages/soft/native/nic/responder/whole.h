// Executes a message of which all is there at its responder, and only if it goes well: everything is looked at before
// anything changes. What does not go well becomes packets, which find out why (docs/decisions/0018-messages.md).
#pragma once

#include <cstdint>

#include "nic/core/completion.h"
#include "nic/core/core.h"
#include "nic/core/inline_completion.h"
#include "nic/responder/execution.h"

namespace verbs::soft::nic {

struct Memory {
  std::uint8_t* at = nullptr;
  bool lasts = false;
};

// `size` bytes from the beginning of a list of one entry. Inline: both ends of each message come here.
[[gnu::always_inline]] inline Memory memory_of(const Core& core, const Pd* pd, const ibv_sge& sge, std::uint32_t size,
                                               unsigned access) {
  const Mr* mr = core.mrs.find(sge.lkey, pd, access);
  if (mr == nullptr || mr->null || size > sge.length) return {};
  return {mr->at(sge.addr, size), mr->lasts()};
}

// A SEND or a WRITE at the queue pair that it is for.
struct WholeMessage {
  Core& core;
  Qp& qp;
  std::uint32_t length;
  std::uint32_t packets;  // that it stands for
  bool immediate;
  bool solicited;
  __be32 imm_data;
  std::uint32_t rkey;  // of a WRITE
  std::uint64_t address;
};

// The receive request that the message takes; the caller has seen that there is one.
struct Target {
  Srq* srq;
  RecvQueue& queue;
  const Pd* pd;

  explicit Target(Qp& qp)
      : srq(qp.srq), queue(srq != nullptr ? srq->queue : qp.rq), pd(srq != nullptr ? srq->pd : qp.pd) {}
  const RecvWqe& wqe() const { return queue.at(queue.head); }
  const ibv_sge* sges() const { return queue.sges(queue.head); }
};

// The peer has nothing in progress, and expects this PSN.
inline bool expects(const Qp& qp, std::uint32_t psn) {
  return qp.resp.expected_psn == psn && qp.resp.message == ResponderState::Message::kNone && qp.recv.wqe == nullptr;
}

// The message is executed.
inline void advance(const WholeMessage& message) {
  ResponderState& resp = message.qp.resp;
  note_communication(message.core, message.qp);
  resp.nak_sent = false;
  resp.msn = psn_add(resp.msn, 1);
  resp.expected_psn = psn_add(resp.expected_psn, message.packets);
}

// The receive request of `target` completes.
[[gnu::always_inline]] inline void receive(const WholeMessage& message, const Target& target, ibv_wc_opcode opcode) {
  Core& core = message.core;
  Qp& qp = message.qp;
  Received received;
  received.opcode = opcode;
  received.byte_len = message.length;
  received.imm_data = message.immediate ? message.imm_data : 0;
  received.flags = message.immediate ? IBV_WC_WITH_IMM : 0;
  received.src_qp = qp.attr.dest_qp_num;
  received.solicited = message.solicited;
  const std::uint64_t wr_id = target.wqe().wr_id;
  if (target.srq != nullptr) {
    dequeue_recv(core, qp);  // with its event
    qp.recv = {};
  }
  if (!complete_recv_here(core, qp, target.srq, wr_id, IBV_WC_SUCCESS, received)) {
    enter_error(core, qp, IBV_EVENT_QP_FATAL);
  }
}

// `payload` has the bytes: payload(memory) copies them to one place, payload.scatter(target) to a list. False: nothing
// has happened but perhaps to the bytes that the message is for.
template <typename Payload>
bool execute_whole_send(const WholeMessage& message, const Payload& payload) {
  if (message.qp.matches_tags) [[unlikely]]
    return false;  // a packet has headers to look at
  const Target target(message.qp);
  if (target.queue.empty() || message.length > target.wqe().length) return false;
  if (message.length > 0) {
    const bool done =
        target.wqe().num_sge == 1
            ? payload(memory_of(message.core, target.pd, *target.sges(), message.length, IBV_ACCESS_LOCAL_WRITE))
            : payload.scatter(target);
    if (!done) return false;
  }
  advance(message);
  receive(message, target, IBV_WC_RECV);
  return true;
}

template <typename Payload>
bool execute_whole_write(const WholeMessage& message, const Payload& payload) {
  Qp& qp = message.qp;
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0) return false;
  if (message.immediate && Target(qp).queue.empty()) return false;
  if (message.length > 0) {
    const RemoteMemory memory = remote_memory(message.core, qp, qp.remote_pd, message.rkey, message.address,
                                              message.length, IBV_ACCESS_REMOTE_WRITE);
    if (!payload({memory.at, memory.lasts})) return false;
  }
  advance(message);
  qp.count(CompletionCounter::kRemoteWrite, IBV_WC_SUCCESS, message.length);
  if (message.immediate) receive(message, Target(qp), IBV_WC_RECV_RDMA_WITH_IMM);
  return true;
}

}  // namespace verbs::soft::nic
