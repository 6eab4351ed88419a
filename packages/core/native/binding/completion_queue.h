// ibv_cq, with the work queues whose requests complete on it.
#pragma once

#include <vector>

#include "channel.h"
#include "context.h"
#include "work_queue.h"

namespace verbs::core {

class CompletionQueue final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_CQ;

  // Owns `cq`; `channel` may be null.
  CompletionQueue(std::shared_ptr<Context> context, std::shared_ptr<CompletionChannel> channel, ibv_cq* cq);
  ~CompletionQueue() override { Dispose(); }

  void* pointer() const override { return cq_; }
  const Context& context() const override { return *context_; }
  ibv_cq* cq() const { return cq_; }

  // What createCq() gives for a queue that exists: { handle, id, cqe }.
  static Napi::Value Adopt(Napi::Env env, const std::shared_ptr<Context>& context,
                           const std::shared_ptr<CompletionChannel>& channel, ibv_cq* cq);

  // A new work queue that completes here. It stays known until it is abandoned and its last completion was polled.
  std::shared_ptr<WorkQueue> AddQueue(std::uint32_t capacity, std::uint32_t max_sge);
  // Its QP is gone: nothing new will come, only completions that already wait.
  void AbandonQueue(const std::shared_ptr<WorkQueue>& queue);
  // Reaps up to `count` completions as records of bytes. Gives their number or a negative errno.
  int Poll(std::uint8_t* records, int count);

  static void Init(Napi::Object exports);

 private:
  int Release() override;
  void ForgetAbandoned();

  std::shared_ptr<Context> context_;
  std::shared_ptr<CompletionChannel> channel_;
  ibv_cq* cq_;
  std::vector<std::shared_ptr<WorkQueue>> queues_;  // by slot
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> abandoned_;
};

}  // namespace verbs::core
