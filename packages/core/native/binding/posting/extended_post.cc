#include "binding/posting/extended_post.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace verbs::core {
namespace {

// Providers leave the builders null of operations that the queue pair was not created for, and setters that do not fit
// its type. False: there is none.
template <typename... Parameters, typename... Arguments>
bool call(void (*builder)(ibv_qp_ex*, Parameters...), ibv_qp_ex* qp, Arguments... arguments) {
  if (builder == nullptr) return false;
  builder(qp, arguments...);
  return true;
}

bool set_data(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  const auto count = static_cast<std::size_t>(wr.num_sge);
  if ((wr.send_flags & IBV_SEND_INLINE) == 0) {
    if (count == 1) return call(qp->wr_set_sge, qp, wr.sg_list->lkey, wr.sg_list->addr, wr.sg_list->length);
    return call(qp->wr_set_sge_list, qp, count, wr.sg_list);
  }
  const auto pointer = [](const ibv_sge& sge) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(sge.addr));
  };
  if (count == 1) return call(qp->wr_set_inline_data, qp, pointer(*wr.sg_list), wr.sg_list->length);
  constexpr std::size_t kUsual = 16;
  std::array<ibv_data_buf, kUsual> few{};
  std::vector<ibv_data_buf> many(count > kUsual ? count : 0);
  ibv_data_buf* buffers = many.empty() ? few.data() : many.data();
  for (std::size_t i = 0; i < count; i++) {
    buffers[i].addr = pointer(wr.sg_list[i]);
    buffers[i].length = wr.sg_list[i].length;
  }
  return call(qp->wr_set_inline_data_list, qp, count, buffers);
}

// ibv_qp_ex.wr_flush, behind the last member of older headers. A library that created the queue pair with kWithFlush
// has it.
auto flush_of(ibv_qp_ex* qp) {
  using Flush = void (*)(ibv_qp_ex*, std::uint32_t rkey, std::uint64_t remote_addr, std::size_t length,
                         std::uint8_t type, std::uint8_t level);
  constexpr std::size_t kOffset = offsetof(ibv_qp_ex, wr_atomic_write) + sizeof(qp->wr_atomic_write);
  Flush flush = nullptr;
  std::memcpy(&flush, reinterpret_cast<const std::byte*>(qp) + kOffset, sizeof flush);
  return flush;
}

bool begin(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  const auto& rdma = wr.wr.rdma;
  const auto& atomic = wr.wr.atomic;
  if (wr.opcode == kWrFlush) {
    return call(flush_of(qp), qp, atomic.rkey, atomic.remote_addr, static_cast<std::size_t>(atomic.compare_add),
                static_cast<std::uint8_t>(atomic.swap), static_cast<std::uint8_t>(atomic.swap >> 8));
  }
  switch (wr.opcode) {
    case IBV_WR_SEND:
      return call(qp->wr_send, qp);
    case IBV_WR_SEND_WITH_IMM:
      return call(qp->wr_send_imm, qp, wr.imm_data);
    case IBV_WR_SEND_WITH_INV:
      return call(qp->wr_send_inv, qp, wr.invalidate_rkey);
    case IBV_WR_RDMA_WRITE:
      return call(qp->wr_rdma_write, qp, rdma.rkey, rdma.remote_addr);
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return call(qp->wr_rdma_write_imm, qp, rdma.rkey, rdma.remote_addr, wr.imm_data);
    case IBV_WR_RDMA_READ:
      return call(qp->wr_rdma_read, qp, rdma.rkey, rdma.remote_addr);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return call(qp->wr_atomic_cmp_swp, qp, atomic.rkey, atomic.remote_addr, atomic.compare_add, atomic.swap);
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return call(qp->wr_atomic_fetch_add, qp, atomic.rkey, atomic.remote_addr, atomic.compare_add);
    case IBV_WR_ATOMIC_WRITE:
      return call(qp->wr_atomic_write, qp, rdma.rkey, rdma.remote_addr,
                  reinterpret_cast<const void*>(static_cast<std::uintptr_t>(wr.sg_list->addr)));
    case IBV_WR_LOCAL_INV:
      return call(qp->wr_local_inv, qp, wr.invalidate_rkey);
    case IBV_WR_BIND_MW:
      return call(qp->wr_bind_mw, qp, wr.bind_mw.mw, wr.bind_mw.rkey, &wr.bind_mw.bind_info);
    default:
      return false;
  }
}

bool has_data(const ibv_send_wr& wr) {
  return wr.opcode != IBV_WR_ATOMIC_WRITE && wr.opcode != IBV_WR_LOCAL_INV && wr.opcode != IBV_WR_BIND_MW &&
         wr.opcode != kWrFlush;
}

// False for an opcode without a builder.
bool build(ibv_qp_ex* qp, const ibv_send_wr& wr) {
  if (!begin(qp, wr)) return false;
  const ibv_qp_type type = qp->qp_base.qp_type;
  const auto& ud = wr.wr.ud;
  if (type == IBV_QPT_UD && !call(qp->wr_set_ud_addr, qp, ud.ah, ud.remote_qpn, ud.remote_qkey)) return false;
  if (type == IBV_QPT_XRC_SEND && !call(qp->wr_set_xrc_srqn, qp, wr.qp_type.xrc.remote_srqn)) return false;
  return !has_data(wr) || set_data(qp, wr);
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
      return EOPNOTSUPP;
    }
  }
  return ibv_wr_complete(qp);
}

}  // namespace verbs::core
