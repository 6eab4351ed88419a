// ibv_srq, of every type.
#pragma once

#include "binding/completion/completion_queue.h"
#include "binding/device/domains.h"
#include "binding/memory/protection_domain.h"
#include "binding/posting/tagged_queue.h"
#include "binding/posting/work_queue.h"

namespace verbs::core {

class SharedReceiveQueue final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_SRQ;

  // Owns `srq`. `xrcd` and `cq` are null for a basic one. `tags` has zeros for one that is not of type TM.
  SharedReceiveQueue(std::shared_ptr<ProtectionDomain> pd, std::shared_ptr<XrcDomain> xrcd,
                     std::shared_ptr<CompletionQueue> cq, ibv_srq* srq, std::uint32_t max_wr, std::uint32_t max_sge,
                     const ibv_tm_cap& tags);
  ~SharedReceiveQueue() override;

  void* pointer() const override { return srq_; }
  const Context& context() const override { return pd_->context(); }
  ibv_srq* srq() const { return srq_; }
  const std::shared_ptr<RequestQueue>& queue() const { return poster_.queue(); }
  void grow(std::uint32_t max_wr) { static_cast<SharedQueue&>(*queue()).grow(max_wr); }

  int post_recv(Cursor& cursor, std::uint32_t count);
  // Adds the buffer of one receive record. `wr` has the rest, and gets the handle. 0, a positive errno of the C
  // library, or a PostError.
  int add_tag(Cursor& cursor, ibv_ops_wr* wr);
  // Any other operation. 0 or errno.
  int operate(ibv_ops_wr* wr, UserId id);

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<ProtectionDomain> pd_;
  std::shared_ptr<XrcDomain> xrcd_;
  std::shared_ptr<CompletionQueue> cq_;
  ibv_srq* srq_;
  ReceivePoster poster_;
  // nullptr unless it is of type TM.
  std::shared_ptr<TaggedBuffers> buffers_;
  std::shared_ptr<TagOperations> operations_;
};

}  // namespace verbs::core
