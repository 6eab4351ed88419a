// An object that is no more than its C structure and the function that destroys it.
#pragma once

#include <cerrno>
#include <vector>

#include "binding/device/context.h"

namespace verbs::core {

template <typename T, verbs_core_kind Kind>
class Owned final : public Object {
 public:
  static constexpr verbs_core_kind kKind = Kind;
  // 0 or an errno, by the conventions of the C library.
  using Destroy = int (*)(const Context& context, T* object);

  Owned(const std::vector<std::shared_ptr<Object>>& parents, T* object, Destroy destroy)
      : Object(kKind, parents), first_parent_(parents.front()), object_(object), destroy_(destroy) {}
  ~Owned() override { dispose(); }

  void* pointer() const override { return object_; }
  const Context& context() const override { return first_parent_->context(); }
  T* get() const { return object_; }

 private:
  int destroy() override { return destroy_(context(), object_); }
  int destroyed(int) override {
    object_ = nullptr;
    return 0;
  }

  std::shared_ptr<Object> first_parent_;
  T* object_;
  Destroy destroy_;
};

}  // namespace verbs::core
