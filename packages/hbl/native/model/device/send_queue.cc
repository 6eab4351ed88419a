#include "model/device/send_queue.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "model/device/context.h"

namespace verbs::hbl::model {

namespace {

constexpr int kChain = 32;  // work requests posted in one call

// Where execution continues after a work request.
struct Place {
  std::uint32_t next, stride;
  bool signaled;
};

struct Chain {
  std::array<ibv_send_wr, kChain> requests;
  std::array<ibv_sge, kChain> elements;
  std::array<Place, kChain> after;
  int count = 0;
};

hbl_wqe_multi_stride read_entry(const Qp& qp, std::uint32_t index) {
  const std::size_t size = qp.granularity == HBLDV_SWQE_GRAN_32B ? sizeof(hbl_wqe) : sizeof(hbl_wqe_multi_stride);
  hbl_wqe_multi_stride entry{};
  // The program may write the entry at the same time: every decision is made on this one copy.
  std::memcpy(&entry, qp.send_queue.as<const std::uint8_t>() + index % qp.entries * size, size);
  return entry;
}

void add(Chain& chain, const Qp& qp, const hbl_wqe_multi_stride& entry, std::uint32_t stride, bool last) {
  const hbl_wqe& wqe = entry.linear;
  ibv_sge& element = chain.elements[chain.count];
  ibv_send_wr& request = chain.requests[chain.count];
  element = {wqe.local_addr + stride * entry.local_stride, wqe.length, qp.local_key};
  request = {};
  request.sg_list = &element;
  request.num_sge = 1;
  request.wr_id = kMappedQueue | wqe.tag;
  request.opcode = last && wqe.opcode == HBL_WQE_WRITE_WITH_IMM ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  request.imm_data = htobe32(wqe.imm_data);
  if (last && (wqe.flags & HBL_WQE_SIGNALED) != 0) request.send_flags |= IBV_SEND_SIGNALED;
  if (last && (wqe.flags & HBL_WQE_SOLICITED) != 0) request.send_flags |= IBV_SEND_SOLICITED;
  request.wr.rdma.remote_addr = wqe.remote_addr + stride * entry.remote_stride;
  request.wr.rdma.rkey = qp.remote_key;
  if (chain.count != 0) chain.requests[chain.count - 1].next = &request;
  ++chain.count;
}

// Fills the chain from the queue, and skips leading NOPs. False: it stopped at an invalid entry.
bool fill(Chain& chain, Qp& qp, std::uint32_t index) {
  std::uint32_t next = qp.next, stride = qp.stride;
  while (next != index && chain.count < kChain) {
    const hbl_wqe_multi_stride entry = read_entry(qp, next);
    if (entry.linear.opcode == HBL_WQE_NOP) {
      if (chain.count != 0) break;
      next = (next + 1) & kIndexMask;
      qp.next = next;
      continue;
    }
    if (entry.linear.opcode > HBL_WQE_WRITE_WITH_IMM) return false;
    const bool last = stride + 1 >= std::max(1u, entry.strides);
    add(chain, qp, entry, stride, last);
    stride = last ? 0 : stride + 1;
    if (last) next = (next + 1) & kIndexMask;
    chain.after[chain.count - 1] = {next, stride, last && (entry.linear.flags & HBL_WQE_SIGNALED) != 0};
  }
  return true;
}

// Posts the chain and counts the completions to come: 0 or errno.
int post(Context& context, Chain& chain, Qp& qp) {
  ibv_send_wr* bad = nullptr;
  const int error = context.base_ops.post_send(qp.ibv, chain.requests.data(), &bad);
  const auto posted = error == 0 ? chain.count : static_cast<int>(bad - chain.requests.data());
  for (int i = 0; i < posted; ++i) {
    if (chain.after[i].signaled) expect_completion(context, qp);
  }
  if (posted > 0) {
    qp.next = chain.after[posted - 1].next;
    qp.stride = chain.after[posted - 1].stride;
  }
  return error;
}

// Moves the queue pair to the error state, raises the event, and drops the entries before `index`.
void fail(Context& context, Qp& qp, std::uint32_t index) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  context.base.modify_qp(qp.ibv, &attr, IBV_QP_STATE);
  ibv_async_event event{};
  event.event_type = IBV_EVENT_QP_FATAL;
  event.element.qp = qp.ibv;
  soft()->raise_event(context.ibv, &event);
  qp.next = index;
}

}  // namespace

bool run_send_queue(Context& context, Qp& qp, std::uint32_t index) {
  if (((index - qp.next) & kIndexMask) > qp.entries) {
    fail(context, qp, index);  // more entries than the queue has
    return true;
  }
  while (qp.next != index) {
    Chain chain;
    bool valid = fill(chain, qp, index);
    if (chain.count != 0) {
      const int error = post(context, chain, qp);
      if (error == ENOMEM) return false;
      valid &= error == 0;
    }
    if (!valid) {
      fail(context, qp, index);
      qp.stride = 0;
    }
  }
  return true;
}

}  // namespace verbs::hbl::model
