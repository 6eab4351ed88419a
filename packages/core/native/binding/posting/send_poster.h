// Posts the send requests of a QP: by ibv_post_send, or by the builders ibv_wr_* if the QP was created for them.
#pragma once

#include <vector>

#include "binding/posting/extended_post.h"
#include "binding/posting/staging.h"
#include "binding/posting/work_queue.h"

namespace verbs::core {

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
