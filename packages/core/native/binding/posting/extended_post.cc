#include "binding/posting/extended_post.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace verbs::core {
namespace {

void set_data(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  const auto count = static_cast<std::size_t>(wr.num_sge);
  if ((wr.send_flags & IBV_SEND_INLINE) == 0) {
    if (count == 1) {
      ibv_wr_set_sge(qp, wr.sg_list->lkey, wr.sg_list->addr, wr.sg_list->length);
    } else {
      ibv_wr_set_sge_list(qp, count, wr.sg_list);
    }
    return;
  }
  const auto pointer = [](const ibv_sge& sge) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(sge.addr));
  };
  if (count == 1) {
    ibv_wr_set_inline_data(qp, pointer(*wr.sg_list), wr.sg_list->length);
    return;
  }
  constexpr std::size_t kUsual = 16;
  std::array<ibv_data_buf, kUsual> few{};
  std::vector<ibv_data_buf> many(count > kUsual ? count : 0);
  ibv_data_buf* buffers = many.empty() ? few.data() : many.data();
  for (std::size_t i = 0; i < count; i++) {
    buffers[i].addr = pointer(wr.sg_list[i]);
    buffers[i].length = wr.sg_list[i].length;
  }
  ibv_wr_set_inline_data_list(qp, count, buffers);
}

// False for an opcode without a builder.
bool build(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  const auto& rdma = wr.wr.rdma;
  const auto& atomic = wr.wr.atomic;
  bool data = true;
  switch (wr.opcode) {
    case IBV_WR_SEND:
      ibv_wr_send(qp);
      break;
    case IBV_WR_SEND_WITH_IMM:
      ibv_wr_send_imm(qp, wr.imm_data);
      break;
    case IBV_WR_SEND_WITH_INV:
      ibv_wr_send_inv(qp, wr.invalidate_rkey);
      break;
    case IBV_WR_RDMA_WRITE:
      ibv_wr_rdma_write(qp, rdma.rkey, rdma.remote_addr);
      break;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      ibv_wr_rdma_write_imm(qp, rdma.rkey, rdma.remote_addr, wr.imm_data);
      break;
    case IBV_WR_RDMA_READ:
      ibv_wr_rdma_read(qp, rdma.rkey, rdma.remote_addr);
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      ibv_wr_atomic_cmp_swp(qp, atomic.rkey, atomic.remote_addr, atomic.compare_add, atomic.swap);
      break;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      ibv_wr_atomic_fetch_add(qp, atomic.rkey, atomic.remote_addr, atomic.compare_add);
      break;
    case IBV_WR_ATOMIC_WRITE:
      ibv_wr_atomic_write(qp, rdma.rkey, rdma.remote_addr,
                          reinterpret_cast<const void*>(static_cast<std::uintptr_t>(wr.sg_list->addr)));
      data = false;
      break;
    case IBV_WR_LOCAL_INV:
      ibv_wr_local_inv(qp, wr.invalidate_rkey);
      data = false;
      break;
    case IBV_WR_BIND_MW:
      ibv_wr_bind_mw(qp, wr.bind_mw.mw, wr.bind_mw.rkey, &wr.bind_mw.bind_info);
      data = false;
      break;
    default:
      return false;
  }
  if (qp->qp_base.qp_type == IBV_QPT_UD) ibv_wr_set_ud_addr(qp, wr.wr.ud.ah, wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
  if (qp->qp_base.qp_type == IBV_QPT_XRC_SEND) ibv_wr_set_xrc_srqn(qp, wr.qp_type.xrc.remote_srqn);
  if (data) set_data(qp, wr);
  return true;
}

}  // namespace

int post_extended(ibv_qp_ex* qp, ibv_send_wr* first, ibv_send_wr** bad) {
  *bad = first;
  ibv_wr_start(qp);
  for (const ibv_send_wr* wr = first; wr != nullptr; wr = wr->next) {
    qp->wr_id = wr->wr_id;
    qp->wr_flags = wr->send_flags;
    if (!build(qp, *wr)) {
      ibv_wr_abort(qp);
      return EINVAL;
    }
  }
  return ibv_wr_complete(qp);
}

}  // namespace verbs::core
