// ibv_ah.
#pragma once

#include "binding/memory/protection_domain.h"

namespace verbs::core {

class AddressHandle final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_AH;

  AddressHandle(std::shared_ptr<ProtectionDomain> pd, ibv_ah* ah);
  ~AddressHandle() override;

  void* pointer() const override { return ah_; }
  const Context& context() const override { return pd_->context(); }
  ibv_ah* ah() const { return ah_; }
  std::uint32_t id() const { return id_; }

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<ProtectionDomain> pd_;
  ibv_ah* ah_;
  std::uint32_t id_;
};

}  // namespace verbs::core
