// Objects of libhbl in the tree of lifetimes of @verbs/core.
#pragma once

#include <initializer_list>
#include <memory>
#include <unordered_set>

#include "core.h"

namespace verbs::hbl {

// What a child object derives from. The tree owns it, and closes it before its parents.
class Child {
 public:
  Child() { live().insert(this); }
  virtual ~Child() { live().erase(this); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The open child of type T behind a handle: handles of other packages' children are none of ours. Null with a
  // TypeError pending.
  template <typename T>
  static T* of(const Arguments& arguments, std::size_t index, Taken* keep) {
    *keep = take(arguments, index, VERBS_CORE_FOREIGN);
    if (!*keep) return nullptr;
    auto* found = static_cast<Child*>(pointer<void>(*keep));
    T* child = live().count(found) != 0 && found->type() == T::kType ? static_cast<T*>(found) : nullptr;
    if (!child) napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", "the native handle is of another object");
    return child;
  }

  // Puts `child` below its parents and gives its handle.
  static napi_value attach(napi_env env, std::unique_ptr<Child> child,
                           std::initializer_list<verbs_core_object*> parents) {
    verbs_core_child* link = core()->attach(parents.begin(), parents.size(), destroy, child.get());
    if (!link) {
      napi_throw_error(env, "ENOMEM", "out of memory");
      return nullptr;
    }
    static_cast<void>(child.release());  // the tree's now
    const napi_value handle = core()->child_handle(env, link);
    core()->detach(link);
    return handle;
  }

 protected:
  enum class Type { kEncap, kEncapUse, kUsrFifo };
  virtual Type type() const = 0;

 private:
  static int destroy(void* object) {
    delete static_cast<Child*>(object);
    return 0;
  }
  // Of this thread: the objects of an environment live on one.
  static std::unordered_set<Child*>& live() {
    static thread_local auto* set = new std::unordered_set<Child*>;  // finalizers may run late
    return *set;
  }
};

}  // namespace verbs::hbl
