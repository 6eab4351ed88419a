// Objects of a vendor's library in the tree of lifetimes of @verbs/core.
#pragma once

#include <initializer_list>
#include <memory>
#include <unordered_set>
#include <vector>

#include "provider/core.h"

namespace verbs::provider {

// The base of a child object. The tree owns it, and closes it before its parents.
class Child {
 public:
  virtual ~Child() { live().erase(this); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The open child of type T behind a value. Null with a TypeError pending for any other value, also a child of another
  // package. The address of the static member T::kType stands for the type.
  template <typename T>
  static T* of(napi_env env, napi_value value, Taken* keep) {
    *keep = take(env, value, VERBS_CORE_FOREIGN);
    if (!*keep) return nullptr;
    auto* found = static_cast<Child*>(pointer<void>(*keep));
    T* child = live().count(found) != 0 && found->type_ == &T::kType ? static_cast<T*>(found) : nullptr;
    if (!child) napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "the native handle is of another object");
    return child;
  }
  template <typename T>
  static T* of(const Arguments& arguments, std::size_t index, Taken* keep) {
    return of<T>(arguments.env, arguments[index], keep);
  }

  // Puts `child` below its parents. The result is its handle.
  static napi_value attach(napi_env env, std::unique_ptr<Child> child, const std::vector<verbs_core_object*>& parents) {
    verbs_core_child* link = core()->attach(parents.data(), parents.size(), destroy, child.get());
    if (!link) {
      throw_out_of_memory(env);
      // The object has no owner, so it is destroyed at once.
      static_cast<void>(child->release());
      return nullptr;
    }
    static_cast<void>(child.release());  // the tree's now
    const napi_value handle = core()->child_handle(env, link);
    core()->detach(link);
    return handle;
  }

 protected:
  explicit Child(const void* type) : type_(type) { live().insert(this); }
  // Destroys the library's object: 0, or an errno, which stops the closing.
  virtual int release() = 0;

 private:
  static int destroy(void* object) {
    auto* child = static_cast<Child*>(object);
    if (const int error = child->release()) return error;
    delete child;
    return 0;
  }
  // Of this thread: the objects of an environment live on one.
  static std::unordered_set<Child*>& live() {
    static thread_local auto* set = new std::unordered_set<Child*>;  // finalizers may run late
    return *set;
  }

  const void* type_;
};

}  // namespace verbs::provider
