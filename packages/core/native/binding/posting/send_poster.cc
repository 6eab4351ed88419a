#include "binding/posting/send_poster.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "binding/device/context.h"
#include "binding/memory/memory_region.h"
#include "binding/posting/address_handle.h"

namespace verbs::core {

SendPoster::SendPoster(const Context& context, ibv_qp* qp, const ExtendedCalls& extended, const ibv_qp_cap& cap)
    : qp_(qp),
      extended_(extended),
      queue_(std::make_shared<WorkQueue>(context.environment(), cap.max_send_wr, cap.max_send_sge)),
      requests_(std::min(cap.max_send_wr, kPostChunk)),
      sges_(requests_.size() * cap.max_send_sge) {}

int SendPoster::post(const Context& context, Cursor& cursor, std::uint32_t count) {
  return post_chunks(
      cursor, count, *queue_, requests_, [&](std::uint32_t index) { return stage(context, cursor, index); },
      [&](ibv_send_wr* first, ibv_send_wr** bad) {
        // The inline ibv_post_send, spelled out: a function of the context.
        const int error = extended_.qp != nullptr ? post_extended(extended_, first, bad)
                                                  : qp_->context->ops.post_send(qp_, first, bad);
        if (binds_) store_keys(first, error == 0 ? nullptr : extended_.qp != nullptr ? first : *bad);
        return error;
      },
      extended_.qp != nullptr);
}

// A window has its old key in ibv_mw.rkey until its bind is posted, since providers send that as the current key; the
// program stores the new one then.
void SendPoster::store_keys(const ibv_send_wr* wr, const ibv_send_wr* end) {
  constexpr std::uint32_t kChosen = 0xff;  // the rest is the window's index
  for (; wr != end && wr != nullptr; wr = wr->next) {
    if (wr->opcode != IBV_WR_BIND_MW) continue;
    std::uint32_t& rkey = wr->bind_mw.mw->rkey;
    rkey = (rkey & ~kChosen) | (wr->bind_mw.rkey & kChosen);
  }
  binds_ = false;
}

int SendPoster::bind_window(const Context& context, Cursor& cursor) {
  return post_chunks(
      cursor, 1, *queue_, requests_, [&](std::uint32_t index) { return stage(context, cursor, index); },
      [&](ibv_send_wr* wr, ibv_send_wr** bad) {
        *bad = wr;
        if (wr->opcode != IBV_WR_BIND_MW) return EINVAL;
        ibv_mw_bind bind{};
        bind.wr_id = wr->wr_id;
        bind.send_flags = wr->send_flags;
        bind.bind_info = wr->bind_mw.bind_info;
        return ibv_bind_mw(qp_, wr->bind_mw.mw, &bind);
      });
}

int SendPoster::stage(const Context& context, Cursor& cursor, std::uint32_t index) {
  SendRecord record;
  cursor.next();
  if (!cursor.read(&record)) return kTruncated;
  if ((record.flags & kWritten) == 0) return kNotWritten;
  if (queue_->full()) return kQueueFull;
  ibv_send_wr& wr = requests_[index];
  // Not the whole structure, which compilers clear the slow way; the remaining fields belong to other opcodes.
  wr.next = nullptr;
  wr.imm_data = 0;
  wr.wr.atomic = {};
  wr.qp_type.xrc.remote_srqn = 0;
  wr.wr_id = queue_->stage({record.wr_id, (record.flags & kIdIsNumber) != 0});
  wr.opcode = static_cast<ibv_wr_opcode>(record.opcode);
  wr.send_flags = record.send_flags;
  wr.sg_list = sges_.data() + std::size_t{index} * queue_->max_sge();
  const bool copied =
      (record.send_flags & IBV_SEND_INLINE) != 0 || (record.opcode == IBV_WR_ATOMIC_WRITE && extended_.qp != nullptr);
  const Reader reader = copied ? Reader::kLibrary : Reader::kAdapter;
  const int refused = stage_sges(context, *queue_, cursor, record.num_sge, wr.sg_list, &wr.num_sge, reader);
  if (refused != 0) return refused;
  if (const int error = stage_operation(context, record, wr)) return error;
  if (qp_->qp_type == IBV_QPT_XRC_SEND) wr.qp_type.xrc.remote_srqn = record.remote_srqn;
  return qp_->qp_type == IBV_QPT_UD ? stage_address(context, record, wr) : 0;
}

int SendPoster::stage_operation(const Context& context, const SendRecord& record, ibv_send_wr& wr) {
  switch (record.opcode) {
    case IBV_WR_SEND:
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      wr.wr.rdma.remote_addr = record.remote_addr;
      wr.wr.rdma.rkey = record.rkey;
      return 0;
    case IBV_WR_ATOMIC_WRITE:
      // Its value is the element's 8 bytes; the builder reads them at once.
      if (wr.num_sge != 1 || wr.sg_list[0].length != sizeof(std::uint64_t)) return kBadLength;
      wr.wr.rdma.remote_addr = record.remote_addr;
      wr.wr.rdma.rkey = record.rkey;
      return 0;
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      wr.imm_data = htonl(record.imm_data);
      wr.wr.rdma.remote_addr = record.remote_addr;
      wr.wr.rdma.rkey = record.rkey;
      return 0;
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
      wr.invalidate_rkey = record.imm_data;
      return 0;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      wr.wr.atomic.remote_addr = record.remote_addr;
      wr.wr.atomic.rkey = record.rkey;
      wr.wr.atomic.compare_add = record.compare_add;
      wr.wr.atomic.swap = record.swap;
      return 0;
    case IBV_WR_BIND_MW:
      return stage_bind(context, record, wr);
    case kWrFlush:
      if ((extended_.operations & kWithFlush) == 0) return EOPNOTSUPP;
      wr.wr.atomic.remote_addr = record.remote_addr;
      wr.wr.atomic.rkey = record.rkey;
      wr.wr.atomic.compare_add = record.compare_add;
      wr.wr.atomic.swap = record.imm_data;
      return 0;
    default:
      return kBadOpcode;
  }
}

int SendPoster::stage_bind(const Context& context, const SendRecord& record, ibv_send_wr& wr) {
  MemoryWindow* window = context.environment().memory_windows.find(record.memory_window);
  if (window == nullptr || &window->context() != &context) return kNoMemoryWindow;
  binds_ = true;
  wr.bind_mw = {};
  wr.bind_mw.mw = window->mw();
  wr.bind_mw.rkey = record.rkey;
  wr.bind_mw.bind_info.mw_access_flags = record.imm_data;
  if (record.memory_region == 0) return 0;
  MemoryRegion* region = context.environment().memory_regions.find(record.memory_region);
  if (region == nullptr || &region->context() != &context) return kNoMemoryRegion;
  if (!region->contains(record.remote_addr, record.compare_add)) return kOutOfBounds;
  wr.bind_mw.bind_info.mr = region->mr();
  wr.bind_mw.bind_info.addr = region->start() + record.remote_addr;
  wr.bind_mw.bind_info.length = record.compare_add;
  window->bind(std::static_pointer_cast<MemoryRegion>(region->shared_from_this()));
  return 0;
}

int SendPoster::stage_address(const Context& context, const SendRecord& record, ibv_send_wr& wr) {
  // Providers follow the pointer without a look.
  AddressHandle* address = context.environment().address_handles.find(record.address_handle);
  if (address == nullptr || &address->context() != &context) return kNoAddress;
  // An adapter that checks fails such a request. A parent domain has the handle of its protection domain.
  if (address->ah()->pd->handle != qp_->pd->handle) return kOtherDomain;
  wr.wr.ud.ah = address->ah();
  wr.wr.ud.remote_qpn = record.remote_qpn;
  wr.wr.ud.remote_qkey = record.remote_qkey;
  queue_->hold(*address);
  return 0;
}

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

// The bit of ibv_qp_create_send_ops_flags.
std::uint64_t operation_of(ibv_wr_opcode opcode) {
  if (opcode == kWrFlush) return kWithFlush;
  return opcode == IBV_WR_ATOMIC_WRITE ? std::uint64_t{IBV_QP_EX_WITH_ATOMIC_WRITE} : std::uint64_t{1} << opcode;
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

int post_extended(const ExtendedCalls& calls, ibv_send_wr* first, ibv_send_wr** bad) {
  ibv_qp_ex* const qp = calls.qp;
  *bad = first;
  ibv_wr_start(qp);
  for (const ibv_send_wr* wr = first; wr != nullptr; wr = wr->next) {
    qp->wr_id = wr->wr_id;
    qp->wr_flags = wr->send_flags;
    // Some providers call their builder, and tell of the request that has none when all are complete.
    if ((calls.operations & operation_of(wr->opcode)) == 0 || !build(qp, *wr)) {
      *bad = const_cast<ibv_send_wr*>(wr);
      ibv_wr_abort(qp);
      return EOPNOTSUPP;
    }
  }
  return ibv_wr_complete(qp);
}

}  // namespace verbs::core
