// ibv_qp, with its two work queues.
#pragma once

#include <vector>

#include "completion_queue.h"
#include "protection_domain.h"
#include "work_queue.h"

namespace verbs::core {

class Cursor;

class QueuePair final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_QP;

  // Owns `qp`. `cap` says what it was created with.
  QueuePair(std::shared_ptr<ProtectionDomain> pd, std::shared_ptr<CompletionQueue> send_cq,
            std::shared_ptr<CompletionQueue> recv_cq, ibv_qp* qp, const ibv_qp_cap& cap);
  ~QueuePair() override;

  void* pointer() const override { return qp_; }
  const Context& context() const override { return pd_->context(); }
  ibv_qp* qp() const { return qp_; }

  // Post the first `count` requests of a batch (records.h). 0, a positive errno of the C library, or a PostError.
  int PostSend(Cursor& cursor, std::uint32_t count);
  int PostRecv(Cursor& cursor, std::uint32_t count);

  static void Init(Napi::Object exports);

 private:
  // So many requests go to the C library in one call.
  static constexpr std::uint32_t kChunk = 64;

  int Release() override;
  void Abandon();
  int StageSend(Cursor& cursor, std::uint32_t index);
  int StageRecv(Cursor& cursor, std::uint32_t index);
  int StageSges(Cursor& cursor, WorkQueue& queue, std::uint32_t count, ibv_sge* sges, int* used);

  std::shared_ptr<ProtectionDomain> pd_;
  std::shared_ptr<CompletionQueue> send_cq_;
  std::shared_ptr<CompletionQueue> recv_cq_;
  ibv_qp* qp_;
  std::shared_ptr<WorkQueue> send_queue_;
  std::shared_ptr<WorkQueue> recv_queue_;
  std::vector<ibv_send_wr> send_requests_;
  std::vector<ibv_recv_wr> recv_requests_;
  std::vector<ibv_sge> send_sges_;
  std::vector<ibv_sge> recv_sges_;
};

}  // namespace verbs::core
