// ibv_mr, with the memory it is a registration of.
#pragma once

#include <infiniband/verbs.h>

#include "binding/lifetime/object.h"
#include "binding/memory/buffers.h"
#include "binding/memory/protection_domain.h"

namespace verbs::core {

class MemoryRegion final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_MR;

  // A strong reference to a JavaScript view.
  struct View {
    View(napi_env in, napi_ref to) : env(in), reference(to) {}
    ~View() { napi_delete_reference(env, reference); }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    napi_env env;
    napi_ref reference;
  };
  // The owner of the memory: a block of allocMr, a view, an object (device memory, a library's buffer), or none.
  struct Memory {
    std::shared_ptr<MemoryBlock> block = nullptr;
    std::shared_ptr<View> view = nullptr;
    std::shared_ptr<Object> object = nullptr;
    // The hints for its transfers (ibv_dmah).
    std::shared_ptr<Object> dma_handle = nullptr;
    // The first byte in this process; null where it has none (device memory, a dma-buf, another process' region).
    std::byte* data = nullptr;
  };
  // The addresses that the region's keys are good for.
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t length = 0;
  };
  using Destroy = int (*)(const Context& context, ibv_mr* mr);

  // Owns `mr`.
  MemoryRegion(std::shared_ptr<ProtectionDomain> pd, ibv_mr* mr, Memory memory, Range range, Destroy destroy);
  ~MemoryRegion() override;

  void* pointer() const override { return mr_; }
  const Context& context() const override { return pd_->context(); }
  ibv_mr* mr() const { return mr_; }
  std::uint32_t id() const { return id_; }
  std::uint64_t start() const { return range_.start; }
  std::byte* data() const { return memory_.data; }
  bool contains(std::uint64_t offset, std::uint64_t length) const {
    return offset <= range_.length && length <= range_.length - offset;
  }

  // ibv_rereg_mr was done: the region is another.
  void become(std::shared_ptr<ProtectionDomain> pd, Memory memory, Range range);
  const std::shared_ptr<ProtectionDomain>& pd() const { return pd_; }
  const Memory& memory() const { return memory_; }
  const Range& range() const { return range_; }

  // { addr, lkey, rkey, id, mrHandle, handle }
  static Napi::Object describe(Napi::Env env, const std::shared_ptr<MemoryRegion>& region);
  static int deregister(const Context& context, ibv_mr* mr);
  // The bytes of a Uint8Array, as regMr takes them: their place, and their owner.
  struct Bytes {
    void* data = nullptr;
    std::size_t length = 0;
  };
  static Bytes bytes_of(const Napi::Value& view);
  static Memory owner_of(const Napi::Value& view, const Bytes& bytes);

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<ProtectionDomain> pd_;
  ibv_mr* mr_;
  Memory memory_;
  Range range_;
  Destroy destroy_;
  std::uint32_t id_;
};

// ibv_mw.

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
