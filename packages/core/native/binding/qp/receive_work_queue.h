// ibv_wq: a receive queue of its own, for receive side scaling.
#pragma once

#include "binding/completion/completion_queue.h"
#include "binding/device/owned.h"
#include "binding/lifetime/vendor_make.h"
#include "binding/memory/protection_domain.h"
#include "binding/posting/work_queue.h"

namespace verbs::core {

class ReceiveWorkQueue final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_WQ;

  ReceiveWorkQueue(std::shared_ptr<ProtectionDomain> pd, std::shared_ptr<CompletionQueue> cq, ibv_wq* wq,
                   std::uint32_t max_wr, std::uint32_t max_sge);
  ~ReceiveWorkQueue() override;

  void* pointer() const override { return wq_; }
  const Context& context() const override { return pd_->context(); }
  ibv_wq* wq() const { return wq_; }

  int post_recv(Cursor& cursor, std::uint32_t count);
  // ibv_modify_wq was done, to RESET: nothing is posted any more.
  void forget() { cq_->renew(poster_); }

  // createWq(), by a vendor's function.
  static Napi::Value create(Napi::Env env, const napi_value* arguments, const VendorMake& vendor);

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<ProtectionDomain> pd_;
  std::shared_ptr<CompletionQueue> cq_;
  ibv_wq* wq_;
  ReceivePoster poster_;
};

// ibv_rwq_ind_table: which receive work queue a hash chooses.

using IndirectionTable = Owned<ibv_rwq_ind_table, VERBS_CORE_RWQ_IND_TABLE>;

void init_indirection_table(Napi::Object exports);

}  // namespace verbs::core
