// Polling an ibv_cq_ex: ibv_start_poll, ibv_next_poll, ibv_end_poll, and the reading of the fields that the queue was
// created for.
#include <algorithm>
#include <cerrno>

#include "binding/completion/completion_queue.h"

namespace verbs::core {
namespace {

ibv_wc read_completion(ibv_cq_ex* cq, std::uint64_t wanted) {
  ibv_wc wc{};
  wc.wr_id = cq->wr_id;
  wc.status = cq->status;
  wc.vendor_err = cq->status == IBV_WC_SUCCESS ? 0 : ibv_wc_read_vendor_err(cq);
  if ((wanted & IBV_WC_EX_WITH_QP_NUM) != 0) wc.qp_num = ibv_wc_read_qp_num(cq);
  // The rest of a failed one says nothing.
  if (cq->status != IBV_WC_SUCCESS) return wc;
  wc.opcode = ibv_wc_read_opcode(cq);
  wc.wc_flags = ibv_wc_read_wc_flags(cq);
  // A success has no other use for the field.
  if ((wanted & IBV_WC_EX_WITH_FLOW_TAG) != 0) wc.vendor_err = ibv_wc_read_flow_tag(cq);
  if ((wanted & IBV_WC_EX_WITH_BYTE_LEN) != 0) wc.byte_len = ibv_wc_read_byte_len(cq);
  // One word, and one reader: providers leave it null without IMM.
  if ((wanted & IBV_WC_EX_WITH_IMM) != 0) {
    if ((wc.wc_flags & IBV_WC_WITH_INV) != 0) {
      wc.invalidated_rkey = ibv_wc_read_invalidated_rkey(cq);
    } else if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
      wc.imm_data = ibv_wc_read_imm_data(cq);
    }
  }
  if ((wanted & IBV_WC_EX_WITH_SRC_QP) != 0) wc.src_qp = ibv_wc_read_src_qp(cq);
  if ((wanted & IBV_WC_EX_WITH_SLID) != 0) wc.slid = static_cast<std::uint16_t>(ibv_wc_read_slid(cq));
  if ((wanted & IBV_WC_EX_WITH_SL) != 0) wc.sl = ibv_wc_read_sl(cq);
  if ((wanted & IBV_WC_EX_WITH_DLID_PATH_BITS) != 0) wc.dlid_path_bits = ibv_wc_read_dlid_path_bits(cq);
  return wc;
}

}  // namespace

int CompletionQueue::poll_extended(std::uint8_t* records, int count) {
  if (count <= 0) return 0;
  ibv_poll_cq_attr attr{};
  int state = ibv_start_poll(extended_, &attr);
  if (state == ENOENT) {
    abandoned_.clear();
    return 0;
  }
  // A positive result of this function is a number of completions.
  if (state != 0) return state < 0 ? state : -state;
  int total = 0;
  while (state == 0) {
    Times times;
    if (extended_->status == IBV_WC_SUCCESS) {
      if ((wc_flags_ & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) != 0) {
        times.timestamp = ibv_wc_read_completion_ts(extended_);
      }
      if ((wc_flags_ & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) != 0) {
        times.wallclock_ns = ibv_wc_read_completion_wallclock_ns(extended_);
      }
    }
    write_record(read_completion(extended_, wc_flags_), times, records);
    records += sizeof(CompletionRecord);
    total++;
    if (total == count) break;
    state = ibv_next_poll(extended_);
  }
  ibv_end_poll(extended_);
  if (state == ENOENT) abandoned_.clear();
  return total;
}

}  // namespace verbs::core
