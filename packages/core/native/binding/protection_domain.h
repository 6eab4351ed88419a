// ibv_pd.
#pragma once

#include "context.h"

namespace verbs::core {

class ProtectionDomain final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_PD;

  ProtectionDomain(std::shared_ptr<Context> context, ibv_pd* pd)
      : Object(kKind, {context}), context_(std::move(context)), pd_(pd) {}
  ~ProtectionDomain() override { Dispose(); }

  void* pointer() const override { return pd_; }
  const Context& context() const override { return *context_; }
  ibv_pd* pd() const { return pd_; }

  static void Init(Napi::Object exports);

 private:
  int Release() override;

  std::shared_ptr<Context> context_;
  ibv_pd* pd_;
};

}  // namespace verbs::core
