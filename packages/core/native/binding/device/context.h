// ibv_context: an open device, with the library that it belongs to.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <vector>

#include "binding/device/library.h"
#include "binding/lifetime/handle.h"
#include "binding/lifetime/object.h"
#include "provider/descriptor_watcher.h"

namespace verbs::core {

class Context final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_CONTEXT;

  enum class Ownership { kOwned, kBorrowed };

  // A borrowed ibv_context stays open when the object is closed.
  Context(std::shared_ptr<Environment> environment, std::shared_ptr<const Library> library, ibv_context* context,
          Ownership ownership = Ownership::kOwned);
  ~Context() override { dispose(); }

  void* pointer() const override { return context_; }
  const Context& context() const override { return *this; }
  ibv_context* ctx() const { return context_; }
  const Library& library() const { return *library_; }
  const Functions& functions() const { return library_->functions(); }
  Environment& environment() const { return *environment_; }
  const std::shared_ptr<Environment>& shared_environment() const { return environment_; }
  provider::DescriptorWatcher& async_watcher() { return async_watcher_; }
  // The device is not there any more: the kernel answers even a query with EIO.
  bool removed() const;
  // The object stays until the context is closed.
  void keep(const std::shared_ptr<Object>& object) const { kept_.push_back(object); }

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<Environment> environment_;
  std::shared_ptr<const Library> library_;
  ibv_context* context_;
  Ownership ownership_;
  provider::DescriptorWatcher async_watcher_;
  mutable std::vector<std::shared_ptr<Object>> kept_;
};

}  // namespace verbs::core
