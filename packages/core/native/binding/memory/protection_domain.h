// ibv_pd: a protection domain, also a parent domain or an imported one.
#pragma once

#include "binding/device/context.h"

namespace verbs::core {

class ProtectionDomain final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_PD;
  // 0 or an errno, by the conventions of the C library.
  using Destroy = int (*)(const Context& context, ibv_pd* pd);

  // Owns `pd`. `parents` are the context, or the objects that a parent domain was created from.
  ProtectionDomain(std::shared_ptr<Context> context, const std::vector<std::shared_ptr<Object>>& parents, ibv_pd* pd,
                   Destroy destroy)
      : Object(kKind, parents), context_(std::move(context)), pd_(pd), destroy_(destroy) {}
  ~ProtectionDomain() override { dispose(); }

  void* pointer() const override { return pd_; }
  const Context& context() const override { return *context_; }
  ibv_pd* pd() const { return pd_; }

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<Context> context_;
  ibv_pd* pd_;
  Destroy destroy_;
};

}  // namespace verbs::core
