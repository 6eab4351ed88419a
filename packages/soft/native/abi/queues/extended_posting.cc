#include "abi/queues/extended_posting.h"

#include <algorithm>
#include <cerrno>
#include <memory>

#include "abi/objects/objects.h"
#include "abi/queues/posting.h"
#include "abi/queues/queue_pair.h"
#include "nic/core/work_request.h"

namespace verbs::soft::abi {

namespace {

SendBatch& batch(ibv_qp_ex* qp) { return *of(&qp->qp_base)->batch; }

// -- builders

void wr_send(ibv_qp_ex* qp) { batch(qp).add(IBV_QP_EX_WITH_SEND, IBV_WR_SEND, *qp); }

void wr_send_imm(ibv_qp_ex* qp, __be32 imm_data) {
  if (auto* wr = batch(qp).add(IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM, *qp)) wr->imm_data = imm_data;
}

void wr_send_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
  if (auto* wr = batch(qp).add(IBV_QP_EX_WITH_SEND_WITH_INV, IBV_WR_SEND_WITH_INV, *qp)) wr->invalidate_rkey = rkey;
}

// No QP is created with segmentation offload: this fails as every operation that the QP was created without.
void wr_send_tso(ibv_qp_ex* qp, void*, std::uint16_t, std::uint16_t) {
  batch(qp).add(IBV_QP_EX_WITH_TSO, IBV_WR_TSO, *qp);
}

ibv_send_wr* add_rdma(ibv_qp_ex* qp, std::uint64_t operation, ibv_wr_opcode opcode, std::uint32_t rkey,
                      std::uint64_t remote_addr) {
  ibv_send_wr* wr = batch(qp).add(operation, opcode, *qp);
  if (wr) wr->wr.rdma = {.remote_addr = remote_addr, .rkey = rkey};
  return wr;
}

void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr) {
  add_rdma(qp, IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ, rkey, remote_addr);
}

void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr) {
  add_rdma(qp, IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, __be32 imm_data) {
  auto* wr = add_rdma(qp, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);
  if (wr) wr->imm_data = imm_data;
}

void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, std::uint64_t compare,
                       std::uint64_t swap) {
  auto* wr = batch(qp).add(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP, *qp);
  if (wr) wr->wr.atomic = {.remote_addr = remote_addr, .compare_add = compare, .swap = swap, .rkey = rkey};
}

void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, std::uint64_t add) {
  auto* wr = batch(qp).add(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD, *qp);
  if (wr) wr->wr.atomic = {.remote_addr = remote_addr, .compare_add = add, .swap = 0, .rkey = rkey};
}

// The eight bytes are inline data.
void wr_atomic_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, const void* value) {
  if (!add_rdma(qp, IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE, rkey, remote_addr)) return;
  const ibv_data_buf buffer{.addr = const_cast<void*>(value), .length = 8};
  batch(qp).set_inline({&buffer, 1});
}

// The range to flush is in the request's own layout (nic/base/guarded_memory.h).
void wr_flush(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, std::size_t length, std::uint8_t type,
              std::uint8_t level) {
  ibv_send_wr* wr = batch(qp).add(later::kQpExWithFlush, nic::kWrFlush, *qp);
  if (!wr) return;
  if (length > UINT32_MAX) return batch(qp).fail(EINVAL);
  const nic::FlushRequest request{remote_addr, static_cast<std::uint32_t>(length), rkey, type, level};
  request.write_to(wr);
}

// An operation of a release after 65.
void wr_unknown(ibv_qp_ex* qp) { batch(qp).fail(EOPNOTSUPP); }

void wr_bind_mw(ibv_qp_ex* qp, ibv_mw* mw, std::uint32_t rkey, const ibv_mw_bind_info* info) {
  if (auto* wr = batch(qp).add(IBV_QP_EX_WITH_BIND_MW, IBV_WR_BIND_MW, *qp)) wr->bind_mw = {mw, rkey, *info};
}

void wr_local_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
  if (auto* wr = batch(qp).add(IBV_QP_EX_WITH_LOCAL_INV, IBV_WR_LOCAL_INV, *qp)) wr->invalidate_rkey = rkey;
}

// -- setters

void wr_set_ud_addr(ibv_qp_ex* qp, ibv_ah* ah, std::uint32_t remote_qpn, std::uint32_t remote_qkey) {
  if (qp->qp_base.qp_type != IBV_QPT_UD) return batch(qp).fail(EINVAL);
  if (auto* wr = batch(qp).last()) wr->wr.ud = {.ah = ah, .remote_qpn = remote_qpn, .remote_qkey = remote_qkey};
}

void wr_set_xrc_srqn(ibv_qp_ex* qp, std::uint32_t remote_srqn) {
  if (qp->qp_base.qp_type != IBV_QPT_XRC_SEND) return batch(qp).fail(EINVAL);
  if (auto* wr = batch(qp).last()) wr->qp_type.xrc.remote_srqn = remote_srqn;
}

void wr_set_inline_data(ibv_qp_ex* qp, void* addr, std::size_t length) {
  const ibv_data_buf buffer{.addr = addr, .length = length};
  batch(qp).set_inline({&buffer, 1});
}

void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* buffers) {
  batch(qp).set_inline({buffers, count});
}

void wr_set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t addr, std::uint32_t length) {
  const ibv_sge sge{.addr = addr, .length = length, .lkey = lkey};
  batch(qp).set_sges({&sge, 1});
}

void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* sges) { batch(qp).set_sges({sges, count}); }

// -- the critical section

void wr_start(ibv_qp_ex* qp) { batch(qp).start(); }
int wr_complete(ibv_qp_ex* qp) {
  return data_path_verb([&] {
    Qp* object = of(&qp->qp_base);
    return object->batch->complete(object->live.adapter, object->live.nic);
  });
}
void wr_abort(ibv_qp_ex* qp) { batch(qp).abort(); }

// Programs call these pointers without a check: all are set.
void fill_calls(Qp* object) {
  ibv_qp_ex* qp = &object->ibv_ex;
  qp->wr_send = wr_send;
  qp->wr_send_imm = wr_send_imm;
  qp->wr_send_inv = wr_send_inv;
  qp->wr_send_tso = wr_send_tso;
  qp->wr_rdma_read = wr_rdma_read;
  qp->wr_rdma_write = wr_rdma_write;
  qp->wr_rdma_write_imm = wr_rdma_write_imm;
  qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
  qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
  qp->wr_atomic_write = wr_atomic_write;
  qp->wr_bind_mw = wr_bind_mw;
  qp->wr_local_inv = wr_local_inv;
  qp->wr_set_ud_addr = wr_set_ud_addr;
  qp->wr_set_xrc_srqn = wr_set_xrc_srqn;
  qp->wr_set_inline_data = wr_set_inline_data;
  qp->wr_set_inline_data_list = wr_set_inline_data_list;
  qp->wr_set_sge = wr_set_sge;
  qp->wr_set_sge_list = wr_set_sge_list;
  qp->wr_start = wr_start;
  qp->wr_complete = wr_complete;
  qp->wr_abort = wr_abort;
  object->later.wr_flush = wr_flush;
  object->later.wr_unknown.fill(wr_unknown);
}

constexpr struct {
  std::uint64_t operation;
  ibv_wr_opcode opcode;
} kOperations[] = {
    {IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE},
    {IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM},
    {IBV_QP_EX_WITH_SEND, IBV_WR_SEND},
    {IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM},
    {IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ},
    {IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP},
    {IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD},
    {IBV_QP_EX_WITH_LOCAL_INV, IBV_WR_LOCAL_INV},
    {IBV_QP_EX_WITH_BIND_MW, IBV_WR_BIND_MW},
    {IBV_QP_EX_WITH_SEND_WITH_INV, IBV_WR_SEND_WITH_INV},
    {IBV_QP_EX_WITH_TSO, IBV_WR_TSO},
    {later::kQpExWithFlush, nic::kWrFlush},
    {IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE},
};

// The operations of a type of QP.
std::uint64_t operations_of(ibv_qp_type type) {
  std::uint64_t operations = 0;
  if (type > IBV_QPT_XRC_RECV) return operations;  // a type of a vendor's driver
  for (const auto& [operation, opcode] : kOperations) {
    const nic::WorkRequestInfo* info = nic::find_work_request(opcode);
    if (info && info->allowed_on(type)) operations |= operation;
  }
  return operations;
}

constexpr std::uint32_t kSpreads = IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;

// A queue pair that spreads frames over receive work queues has neither queues nor a CQ.
int read_spread(Uses& uses, ibv_context* context, const ibv_qp_init_attr_ex& attr, nic::Spread* spread) {
  if (!of(context)->device->has_raw_packets()) return EOPNOTSUPP;
  const ibv_qp_cap& cap = attr.cap;
  if ((attr.comp_mask & kSpreads) != kSpreads || attr.qp_type != IBV_QPT_RAW_PACKET || attr.srq ||
      (cap.max_send_wr | cap.max_recv_wr | cap.max_send_sge | cap.max_recv_sge) != 0) {
    return EINVAL;
  }
  if ((attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 && attr.send_ops_flags != 0) return EOPNOTSUPP;
  if (const int error = use_with(uses, attr.rwq_ind_tbl, context)) return error;
  spread->table = &of(attr.rwq_ind_tbl)->nic;
  return nic::read_hash(attr.rx_hash_conf, spread);
}

int check(Uses& uses, ibv_context* context, const ibv_qp_init_attr_ex& attr) {
  constexpr std::uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
                                   IBV_QP_INIT_ATTR_MAX_TSO_HEADER | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
                                   IBV_QP_INIT_ATTR_XRCD | kSpreads;
  if ((attr.comp_mask & ~kKnown) != 0) return EOPNOTSUPP;
  const bool target = attr.qp_type == IBV_QPT_XRC_RECV;
  if ((attr.comp_mask & (target ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD)) == 0) return EINVAL;
  if (!target) {
    if (const int error = use_with(uses, attr.pd, context, ENOENT)) return error;
  }
  if ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attr.create_flags != 0) return EOPNOTSUPP;
  if ((attr.comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER) != 0 && attr.max_tso_header != 0) return EOPNOTSUPP;
  if ((attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 &&
      (attr.send_ops_flags & ~operations_of(attr.qp_type)) != 0) {
    return EOPNOTSUPP;
  }
  return 0;
}

}  // namespace

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  Uses uses;
  if (const int error = uses.add(context)) return null_with<ibv_qp>(error);
  if (const int error = check(uses, context, *attr)) return null_with<ibv_qp>(error);
  if ((attr->comp_mask & kSpreads) != 0) {
    nic::Spread spread;
    if (const int error = read_spread(uses, context, *attr, &spread)) return null_with<ibv_qp>(error);
    return create_qp(context, attr->pd, nullptr, reinterpret_cast<ibv_qp_init_attr*>(attr), &spread);
  }
  const bool extended = (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  if (extended && (attr->send_ops_flags & IBV_QP_EX_WITH_ATOMIC_WRITE) != 0) {
    attr->cap.max_inline_data = std::max<std::uint32_t>(attr->cap.max_inline_data, 8);
  }
  // The extended structure begins with the fields of the plain one.
  auto* plain = reinterpret_cast<ibv_qp_init_attr*>(attr);
  ibv_qp* qp = attr->qp_type == IBV_QPT_XRC_RECV ? create_qp(context, nullptr, attr->xrcd, plain)
                                                 : ibv_create_qp(attr->pd, plain);
  if (!qp || !extended) return qp;
  const int error = contain(
      [&] {
        of(qp)->batch = std::make_unique<SendBatch>(attr->cap, attr->send_ops_flags);
        return 0;
      },
      [](int failed) { return failed; });
  if (error != 0) {
    ibv_destroy_qp(qp);
    return null_with<ibv_qp>(error);
  }
  fill_calls(of(qp));
  return qp;
}

}  // namespace verbs::soft::abi

using namespace verbs::soft;

extern "C" {

// Only a QP that was created with send_ops_flags has the extended post calls.
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return abi::check(qp) == 0 && abi::of(qp)->batch ? &abi::of(qp)->ibv_ex : nullptr;
}

}  // extern "C"
