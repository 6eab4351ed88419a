// ibv_mw.
#pragma once

#include "memory_region.h"

namespace verbs::core {

class MemoryWindow final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_MW;

  MemoryWindow(std::shared_ptr<ProtectionDomain> pd, ibv_mw* mw)
      : Object(kKind, {pd}), pd_(std::move(pd)), mw_(mw), id_(context().environment().memory_windows.Insert(this)) {}
  ~MemoryWindow() override;

  void* pointer() const override { return mw_; }
  const Context& context() const override { return pd_->context(); }
  ibv_mw* mw() const { return mw_; }
  std::uint32_t id() const { return id_; }

  // A bind to the region was posted. It stays registered at least until the window goes, and that goes first.
  void Bind(std::shared_ptr<MemoryRegion> region);

  static void Init(Napi::Object exports);

 private:
  int Release() override;

  std::shared_ptr<ProtectionDomain> pd_;
  ibv_mw* mw_;
  std::uint32_t id_;
  std::shared_ptr<MemoryRegion> region_;
};

}  // namespace verbs::core
