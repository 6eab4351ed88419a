// ibv_mw.
#pragma once

#include "binding/memory/memory_region.h"

namespace verbs::core {

class MemoryWindow final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_MW;

  MemoryWindow(std::shared_ptr<ProtectionDomain> pd, ibv_mw* mw)
      : Object(kKind, {pd}), pd_(std::move(pd)), mw_(mw), id_(context().environment().memory_windows.insert(this)) {}
  ~MemoryWindow() override;

  void* pointer() const override { return mw_; }
  const Context& context() const override { return pd_->context(); }
  ibv_mw* mw() const { return mw_; }
  std::uint32_t id() const { return id_; }

  // A bind to the region is to be posted. It stays registered until it is closed or the window goes, and that goes
  // first. So do those before it: the bind may yet be refused or flushed, and then the window is where it was.
  void bind(const std::shared_ptr<MemoryRegion>& region);

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<ProtectionDomain> pd_;
  ibv_mw* mw_;
  std::uint32_t id_;
  std::vector<std::shared_ptr<MemoryRegion>> regions_;
};

}  // namespace verbs::core
