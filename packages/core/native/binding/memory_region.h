// ibv_mr, with the memory it is a registration of.
#pragma once

#include <infiniband/verbs.h>

#include "memory_block.h"
#include "object.h"
#include "protection_domain.h"

namespace verbs::core {

class MemoryRegion final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_MR;

  // Owns `mr`. The memory is either a block, or kept by `view`, a strong reference to a JavaScript view of it.
  MemoryRegion(std::shared_ptr<ProtectionDomain> pd, ibv_mr* mr, std::shared_ptr<MemoryBlock> block, napi_ref view);
  ~MemoryRegion() override;

  void* pointer() const override { return mr_; }
  const Context& context() const override { return pd_->context(); }
  ibv_mr* mr() const { return mr_; }
  std::uint32_t id() const { return id_; }

  static void Init(Napi::Object exports);

 private:
  int Release() override;

  std::shared_ptr<ProtectionDomain> pd_;
  ibv_mr* mr_;
  std::shared_ptr<MemoryBlock> block_;
  napi_ref view_;
  std::uint32_t id_;
};

}  // namespace verbs::core
