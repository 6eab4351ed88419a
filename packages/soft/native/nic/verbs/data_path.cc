#include "nic/verbs/data_path.h"

#include <algorithm>
#include <cerrno>

#include "nic/base/guarded_memory.h"
#include "nic/core/completion.h"
#include "nic/core/explanation.h"
#include "nic/core/ways.h"
#include "nic/core/work_request.h"
#include "nic/responder/messages.h"
#include "wire/headers.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kQkeyFromQp = 0x80000000;
constexpr std::uint64_t kTooLong = UINT32_MAX;

// The request is refused, with the reason.
[[gnu::cold]] int refuse(Core& core, const Qp& qp, const ibv_send_wr& wr, int error, const Why& why) {
  return refuse_post(core, qp, Place::kPostSend, wr.wr_id, error, why);
}

// A field has a value that the operation does not allow.
[[gnu::cold]] int refuse(Core& core, const Qp& qp, const ibv_send_wr& wr) {
  return refuse(core, qp, wr, EINVAL, {Reason::kPostForm, {wr.opcode}});
}

std::uint64_t number(int value) { return static_cast<std::uint64_t>(std::int64_t{value}); }

// Inline, like all that each request of a list goes through: the calls would cost a tenth of the posting.
[[gnu::always_inline]] inline int check_send(Core& core, const Qp& qp, const ibv_send_wr& wr) {
  if (qp.matches_tags) [[unlikely]]
    return refuse(core, qp, wr, EINVAL, {Reason::kSendsOfTagMatching});
  if (!qp.may_send() && qp.state != IBV_QPS_SQE && qp.state != IBV_QPS_ERR) {
    return refuse(core, qp, wr, EINVAL, {Reason::kSendState, {qp.state}});
  }
  if (qp.sq.full()) return refuse(core, qp, wr, ENOMEM, {Reason::kQueueFull, {qp.sq.capacity()}});
  const WorkRequestInfo* info = find_work_request(wr.opcode);
  if (info == nullptr) return refuse(core, qp, wr, EINVAL, {Reason::kUnknownOperation, {wr.opcode}});
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > qp.sq.max_sge()) {
    return refuse(core, qp, wr, EINVAL, {Reason::kTooManySges, {number(wr.num_sge), qp.sq.max_sge()}});
  }
  if (!info->may_be_inline && (wr.send_flags & IBV_SEND_INLINE) != 0) {
    return refuse(core, qp, wr, EINVAL, {Reason::kNeverInline, {wr.opcode}});
  }
  return 0;
}

// Most lists have one element.
[[gnu::always_inline]] inline std::uint64_t total_length(const ibv_sge* sges, int count) {
  if (count == 1) return sges->length;
  std::uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += sges[i].length;
  return total;
}

void copy_sges(const ibv_sge* from, int count, ibv_sge* to) {
  if (count == 1) {
    *to = *from;
  } else {
    std::copy_n(from, count, to);
  }
}

// Inline data is copied at once: the caller's memory needs no region, and is free when the post returns.
int copy_inline(Core& core, Qp& qp, const ibv_send_wr& wr) {
  std::uint8_t* to = qp.sq.inline_data(qp.sq.tail);
  for (int i = 0; i < wr.num_sge; ++i) {
    const ibv_sge& sge = wr.sg_list[i];
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the ABI has addresses as integers.
    if (!copy_argument(to, reinterpret_cast<const void*>(sge.addr), sge.length)) {
      return refuse(core, qp, wr, EFAULT, {Reason::kInlineUnmapped, {sge.addr}});
    }
    to += sge.length;
  }
  return 0;
}

// The request is taken, and completes with an error in its turn, as devices have it that look at it late.
int refuse_later(Qp& qp) {
  qp.sq.at(qp.sq.tail).error = IBV_WC_LOC_QP_OP_ERR;
  return 0;
}

int fill_datagram(Core& core, Qp& qp, const ibv_send_wr& wr) {
  const Ah* ah = reinterpret_cast<const Ah*>(wr.wr.ud.ah);
  if (ah == nullptr || ah->pd == nullptr) return refuse(core, qp, wr, EINVAL, {Reason::kNoAddressHandle});
  if (ah->pd != qp.pd) {
    if (!core.ahs.holds(*ah)) {  // of another device
      return refuse(core, qp, wr, EINVAL, {Reason::kNoAddressHandle});
    }
    if (!core.config.rules.any_domains_handle) return refuse_later(qp);
  }
  // The packet would leave by the queue pair's port, from the address of another one (IBV_DEVICE_UD_AV_PORT_ENFORCE).
  if (ah->port_num != qp.attr.port_num) {
    return refuse(core, qp, wr, EINVAL, {Reason::kHandlePort, {ah->port_num, qp.attr.port_num}});
  }
  Datagram& datagram = qp.sq.datagram(qp.sq.tail);
  datagram.path = ah->path;
  datagram.path.source_port = core.port_of(qp).source_port(ah->path.flow_label, qp.number, qp.number);
  datagram.qpn = wr.wr.ud.remote_qpn & 0xffffff;
  datagram.qkey = (wr.wr.ud.remote_qkey & kQkeyFromQp) != 0 ? qp.attr.qkey : wr.wr.ud.remote_qkey;
  return 0;
}

int fill_bind(Core& core, const Qp& qp, const ibv_send_wr& wr, SendWqe& wqe) {
  if (wr.num_sge != 0) return refuse(core, qp, wr);
  const ibv_mw_bind_info& info = wr.bind_mw.bind_info;
  wqe.rkey = wr.bind_mw.mw != nullptr ? wr.bind_mw.mw->rkey : wr.bind_mw.rkey;
  wqe.key_byte = static_cast<std::uint8_t>(wr.bind_mw.rkey);
  wqe.remote_addr = info.addr;
  wqe.bind = {info.length, info.mr != nullptr ? info.mr->lkey : 0, info.mw_access_flags};
  return 0;
}

// ibv_bind_mw() binds type 1 windows. Of the key in the request only the lowest byte counts, as for adapters and the
// kernel's soft-RoCE: the rest is the window's.
bool may_bind(const ibv_mw* mw) { return mw != nullptr && mw->type == IBV_MW_TYPE_2; }

int fill_flush(Core& core, const Qp& qp, const ibv_send_wr& wr, SendWqe& wqe) {
  const FlushRequest flush = FlushRequest::of(wr);
  constexpr unsigned kTypes = wire::Feth::kGlobal | wire::Feth::kPersistent;
  if (flush.type == 0 || (flush.type & ~kTypes) != 0 || flush.level > wire::Feth::kRegion) {
    return refuse(core, qp, wr);
  }
  wqe.remote_addr = flush.remote_addr;
  wqe.rkey = flush.rkey;
  wqe.length = flush.length;
  wqe.num_sge = 0;  // it transfers no data
  wqe.flush = {flush.type, flush.level};
  return 0;
}

// Of all but SEND and WRITE of an RC queue pair.
[[gnu::noinline]] int fill_other(Core& core, Qp& qp, const ibv_send_wr& wr, SendWqe& wqe) {
  const WorkRequestInfo& info = info_of(wr.opcode);
  if (qp.type == IBV_QPT_UD) return fill_datagram(core, qp, wr);
  if (qp.type == IBV_QPT_RAW_PACKET) {
    return (wr.send_flags & IBV_SEND_IP_CSUM) != 0 && !core.config.fills_checksums ? refuse(core, qp, wr) : 0;
  }
  if (qp.type == IBV_QPT_XRC_SEND) wqe.remote_srqn = wr.qp_type.xrc.remote_srqn & 0xffffff;
  if (info.response == ExpectedResponse::kAtomicAcknowledge) {
    if (wqe.length < sizeof(std::uint64_t)) {
      return refuse(core, qp, wr, EINVAL, {Reason::kAtomicLength, {wr.opcode, wqe.length}});
    }
    if (core.config.rules.posts_need_alignment && wr.wr.atomic.remote_addr % sizeof(std::uint64_t) != 0) {
      return refuse(core, qp, wr, EINVAL, {Reason::kMisaligned, {wr.wr.atomic.remote_addr}});
    }
    wqe.length = sizeof(std::uint64_t);
    wqe.remote_addr = wr.wr.atomic.remote_addr;
    wqe.rkey = wr.wr.atomic.rkey;
    const bool swaps = wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    wqe.atomic.swap_or_add = swaps ? wr.wr.atomic.swap : wr.wr.atomic.compare_add;
    wqe.atomic.compare = swaps ? wr.wr.atomic.compare_add : 0;
    return 0;
  }
  if (wr.opcode == IBV_WR_BIND_MW) return fill_bind(core, qp, wr, wqe);
  if (wr.opcode == kWrFlush) return fill_flush(core, qp, wr, wqe);
  if (wr.opcode == IBV_WR_ATOMIC_WRITE && wqe.length != sizeof(std::uint64_t)) {
    return refuse(core, qp, wr, EINVAL, {Reason::kAtomicLength, {wr.opcode, wqe.length}});
  }
  if (wr.opcode == IBV_WR_LOCAL_INV) {
    wqe.rkey = wr.invalidate_rkey;
    return 0;
  }
  wqe.remote_addr = wr.wr.rdma.remote_addr;
  wqe.rkey = wr.wr.rdma.rkey;
  return 0;
}

// Fills the fields that depend on the operation.
[[gnu::always_inline]] inline int fill_operation(Core& core, Qp& qp, const ibv_send_wr& wr, SendWqe& wqe) {
  const WorkRequestInfo& info = info_of(wr.opcode);
  if (!info.allowed_on(qp.type)) return refuse_later(qp);
  if (qp.type != IBV_QPT_RC || info.response != ExpectedResponse::kAcknowledge) return fill_other(core, qp, wr, wqe);
  wqe.remote_addr = wr.wr.rdma.remote_addr;
  wqe.rkey = wr.wr.rdma.rkey;
  return 0;
}

[[gnu::always_inline]] inline int enqueue_send(Core& core, Qp& qp, const ibv_send_wr& wr) {
  if (const int error = check_send(core, qp, wr)) return error;
  const std::uint64_t length = total_length(wr.sg_list, wr.num_sge);
  if (length >= kTooLong) {
    return refuse(core, qp, wr, EINVAL, {Reason::kLongMessage, {length, core.config.limits.max_msg_size}});
  }
  SendWqe& wqe = qp.sq.at(qp.sq.tail);
  wqe = {};
  wqe.wr_id = wr.wr_id;
  wqe.opcode = wr.opcode;
  wqe.flags = static_cast<std::uint16_t>(wr.send_flags);
  wqe.imm_data = wr.imm_data;
  wqe.length = static_cast<std::uint32_t>(length);
  wqe.num_sge = static_cast<std::uint16_t>(wr.num_sge);
  wqe.error = IBV_WC_SUCCESS;
  if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
    if (length > qp.sq.max_inline()) {
      return refuse(core, qp, wr, EINVAL, {Reason::kLongInline, {length, qp.sq.max_inline()}});
    }
    if (const int error = copy_inline(core, qp, wr)) return error;
  } else {
    copy_sges(wr.sg_list, wr.num_sge, qp.sq.sges(qp.sq.tail));
  }
  if (const int error = fill_operation(core, qp, wr, wqe)) return error;
  ++qp.sq.tail;
  if (qp.may_send()) {
    core.active.add(qp);
  } else {
    flush_sends(core, qp);
  }
  return 0;
}

// Why enqueue_recv() refuses.
[[gnu::cold]] Why why_not_enqueued(Core& core, const RecvQueue& queue, const ibv_recv_wr& wr) {
  if (queue.full()) return {Reason::kQueueFull, {queue.capacity()}};
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > queue.max_sge()) {
    return {Reason::kTooManySges, {number(wr.num_sge), queue.max_sge()}};
  }
  return {Reason::kLongMessage, {total_length(wr.sg_list, wr.num_sge), core.config.limits.max_msg_size}};
}

[[gnu::always_inline]] inline int enqueue_recv(RecvQueue& queue, const ibv_recv_wr& wr) {
  if (queue.full()) return ENOMEM;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > queue.max_sge()) return EINVAL;
  const std::uint64_t length = total_length(wr.sg_list, wr.num_sge);
  if (length >= kTooLong) return EINVAL;
  RecvWqe& wqe = queue.at(queue.tail);
  wqe.wr_id = wr.wr_id;
  wqe.length = static_cast<std::uint32_t>(length);
  wqe.num_sge = static_cast<std::uint32_t>(wr.num_sge);
  copy_sges(wr.sg_list, wr.num_sge, queue.sges(queue.tail));
  ++queue.tail;
  return 0;
}

[[gnu::cold]] Why why_no_receives(const Qp& qp) {
  if (qp.uses_srq()) return {Reason::kReceivesFromSrq};
  if (qp.type == IBV_QPT_XRC_SEND) return {Reason::kReceivesNothing};
  return {Reason::kReceiveState, {qp.state}};
}

[[gnu::cold]] int refuse(Core& core, const Qp& qp, const ibv_recv_wr& wr, int error, const Why& why) {
  return refuse_post(core, qp, Place::kPostRecv, wr.wr_id, error, why);
}

[[gnu::always_inline]] inline int post_one(Core& core, Qp& qp, const ibv_send_wr& wr) {
  if (wr.opcode == IBV_WR_BIND_MW && !may_bind(wr.bind_mw.mw)) return refuse(core, qp, wr);
  return enqueue_send(core, qp, wr);
}

[[gnu::always_inline]] inline int post_one(Core& core, Qp& qp, const ibv_recv_wr& wr) {
  if (qp.state == IBV_QPS_RESET) return refuse(core, qp, wr, EINVAL, why_no_receives(qp));
  if (const int error = enqueue_recv(qp.rq, wr)) {
    // They have a queue without room.
    if (qp.uses_srq() || qp.type == IBV_QPT_XRC_SEND) return refuse(core, qp, wr, EINVAL, why_no_receives(qp));
    return refuse(core, qp, wr, error, why_not_enqueued(core, qp.rq, wr));
  }
  if (qp.state == IBV_QPS_ERR) flush_receives(core, qp);
  return 0;
}

// Why an operation on tagged buffers is refused; Reason::kNone: it is not.
Why check_tag_operation(const Srq& srq, const ibv_ops_wr& wr) {
  constexpr int kFlags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
  const Why unknown{Reason::kTagOperation, {static_cast<std::uint64_t>(wr.opcode), number(wr.flags)}};
  if (srq.tags == nullptr) return {Reason::kNoTagMatching};
  const TagList& tags = *srq.tags;
  if ((wr.flags & ~kFlags) != 0) return unknown;
  if (tags.ops_full()) return {Reason::kQueueFull, {tags.max_ops()}};
  switch (wr.opcode) {
    case IBV_WR_TAG_ADD:
      if (wr.tm.add.num_sge < 0 || number(wr.tm.add.num_sge) > kMaxTagSges) {
        return {Reason::kTooManySges, {number(wr.tm.add.num_sge), kMaxTagSges}};
      }
      return tags.full() ? Why{Reason::kTagListFull, {tags.capacity()}} : Why{};
    case IBV_WR_TAG_DEL:
      return tags.is_foreign(wr.tm.handle) ? Why{Reason::kTagHandle, {wr.tm.handle}} : Why{};
    case IBV_WR_TAG_SYNC:
      return {};
    default:
      return unknown;
  }
}

int post_one(Core& core, Srq& srq, ibv_ops_wr& wr) {
  if (const Why why = check_tag_operation(srq, wr); why.reason != Reason::kNone) [[unlikely]] {
    const bool full = why.reason == Reason::kQueueFull || why.reason == Reason::kTagListFull;
    const int error = full ? ENOMEM : EINVAL;
    explain_call(core, Place::kPostSrqOps, error, why, nullptr, wr.wr_id);
    return error;
  }
  TagList& tags = *srq.tags;
  ibv_wc_opcode opcode = IBV_WC_TM_SYNC;
  ibv_wc_status status = IBV_WC_SUCCESS;
  if ((wr.flags & IBV_OPS_TM_SYNC) != 0 || wr.opcode == IBV_WR_TAG_SYNC) tags.synchronize(wr.tm.unexpected_cnt);
  if (wr.opcode == IBV_WR_TAG_ADD) {
    opcode = IBV_WC_TM_ADD;
    const auto& add = wr.tm.add;
    wr.tm.handle = tags.add({.wr_id = add.recv_wr_id,
                             .sge = add.num_sge > 0 ? add.sg_list[0] : ibv_sge{},
                             .tag = add.tag,
                             .mask = add.mask});
  } else if (wr.opcode == IBV_WR_TAG_DEL) {
    opcode = IBV_WC_TM_DEL;
    if (!tags.remove(wr.tm.handle)) status = IBV_WC_TM_ERR;
  }
  if (status != IBV_WC_SUCCESS || (wr.flags & IBV_OPS_SIGNALED) != 0) {
    complete_tag_operation(core, srq, wr.wr_id, status, opcode);
  }
  return 0;
}

// Calls post(*wr) for each request of a list, up to the first error.
template <typename Wr, typename Post>
int post_each(Wr* wr, Wr** bad_wr, Post post) {
  for (; wr != nullptr; wr = wr->next) {
    if (const int error = post(*wr)) {
      *bad_wr = wr;
      return error;
    }
  }
  return 0;
}

// Messages of a call; the scheduler hands over the others.
constexpr std::size_t kHandOverBudget = 256;

// What was posted leaves at once, if it needs no packets. The queue pair then has nothing to send.
void hand_over_posted(Core& core, Qp& qp) {
  if (way_of(core, qp) != nullptr) return;  // the host lets the scheduler run
  std::size_t count = 0;
  const HandOver result = hand_over(core, qp, kHandOverBudget, false, &count);
  if (result == HandOver::kAll && qp.resp.responses.empty()) core.active.remove(qp);
}

int enqueue_sends(Core& core, Qp& qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  return post_each(wr, bad_wr, [&](const ibv_send_wr& each) { return post_one(core, qp, each); });
}

}  // namespace

int DataPath::post_send(Qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  const int error = enqueue_sends(core_, *qp, wr, bad_wr);
  hand_over_posted(core_, *qp);
  return error;
}

int DataPath::post_batch(Qp* qp, ibv_send_wr* wr) {
  const std::uint32_t tail = qp->sq.tail;
  ibv_send_wr* bad = nullptr;
  const int error = enqueue_sends(core_, *qp, wr, &bad);
  // Nothing was sent yet, so the tail can go back. In the error state the queue is empty: requests are flushed as they
  // are posted.
  if (error != 0 && !qp->sq.empty()) qp->sq.tail = tail;
  hand_over_posted(core_, *qp);
  return error;
}

int DataPath::post_bind(Qp* qp, const ibv_mw_bind* bind, std::uint32_t rkey) {
  if ((bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0) return EINVAL;  // not for type 1
  ibv_send_wr wr = {};
  wr.wr_id = bind->wr_id;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = bind->send_flags;
  wr.bind_mw.rkey = rkey;
  wr.bind_mw.bind_info = bind->bind_info;
  return enqueue_send(core_, *qp, wr);
}

int DataPath::post_recv(Qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post_each(wr, bad_wr, [&](const ibv_recv_wr& each) { return post_one(core_, *qp, each); });
}

int DataPath::post_srq_recv(Srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post_each(wr, bad_wr, [&](const ibv_recv_wr& each) {
    const int error = enqueue_recv(srq->queue, each);
    if (error != 0) [[unlikely]]
      explain_call(core_, Place::kPostSrqRecv, error, why_not_enqueued(core_, srq->queue, each), nullptr, each.wr_id);
    return error;
  });
}

int DataPath::post_srq_ops(Srq* srq, ibv_ops_wr* wr, ibv_ops_wr** bad_wr) {
  return post_each(wr, bad_wr, [&](ibv_ops_wr& each) { return post_one(core_, *srq, each); });
}

}  // namespace verbs::soft::nic
