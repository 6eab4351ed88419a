#include "binding/posting/send_poster.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>

#include "binding/device/context.h"
#include "binding/memory/memory_region.h"
#include "binding/memory/memory_window.h"
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
        const int error = extended_.qp != nullptr ? post_extended(extended_.qp, first, bad)
                                                  : qp_->context->ops.post_send(qp_, first, bad);
        if (binds_) store_keys(first, error == 0 ? nullptr : *bad);
        return error;
      });
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
  if (const int error = stage_sges(context, *queue_, cursor, record.num_sge, wr.sg_list, &wr.num_sge)) return error;
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
      if (!extended_.flush) return EOPNOTSUPP;
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

}  // namespace verbs::core
