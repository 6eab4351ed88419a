// Posts the send requests of a QP: by ibv_post_send, or by the builders ibv_wr_* if the QP was created for them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <vector>

#include "binding/posting/staging.h"
#include "binding/posting/work_queue.h"

namespace verbs::core {

// The extended post calls: ibv_wr_start, the builders and setters, ibv_wr_complete.

// IBV_WR_FLUSH and IBV_QP_EX_WITH_FLUSH, since release 45. A staged request has its length in compare_add, its type and
// level in swap: ibv_post_send has no such request.
inline constexpr auto kWrFlush = static_cast<ibv_wr_opcode>(14);
inline constexpr std::uint64_t kWithFlush = 1u << 11;

// The extended post calls of a queue pair, if it was created for them.
struct ExtendedCalls {
  ibv_qp_ex* qp = nullptr;
  std::uint64_t operations = 0;  // that it was created for: of ibv_qp_create_send_ops_flags, and kWithFlush
};

// Posts a chain of requests in one bracket: all of them, or on an error none. 0 or an errno; then *bad is the one at
// fault, as far as that is known, else the first.
int post_extended(const ExtendedCalls& calls, ibv_send_wr* first, ibv_send_wr** bad);

class SendPoster {
 public:
  SendPoster(const Context& context, ibv_qp* qp, const ExtendedCalls& extended, const ibv_qp_cap& cap);

  const std::shared_ptr<WorkQueue>& queue() const { return queue_; }
  // One of the same size in its place.
  void replace(std::shared_ptr<WorkQueue> queue) { queue_ = std::move(queue); }

  // The first `count` requests of a batch (records.h). 0, a positive errno of the C library, or a PostError.
  int post(const Context& context, Cursor& cursor, std::uint32_t count);
  // One BIND_MW request of a batch, by ibv_bind_mw.
  int bind_window(const Context& context, Cursor& cursor);

 private:
  int stage(const Context& context, Cursor& cursor, std::uint32_t index);
  int stage_operation(const Context& context, const SendRecord& record, ibv_send_wr& wr);
  int stage_bind(const Context& context, const SendRecord& record, ibv_send_wr& wr);
  int stage_address(const Context& context, const SendRecord& record, ibv_send_wr& wr);
  void store_keys(const ibv_send_wr* wr, const ibv_send_wr* end);

  ibv_qp* qp_;
  ExtendedCalls extended_;
  std::shared_ptr<WorkQueue> queue_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> sges_;
  bool binds_ = false;  // a staged request is BIND_MW
};

}  // namespace verbs::core
