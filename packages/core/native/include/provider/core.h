// The table of @verbs/core, its objects for the time of a call, and a provider's own objects in its tree of lifetimes.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "provider/boundary.h"
#include "provider/handle.h"
#include "verbs_core.h"

namespace verbs::provider {

namespace detail {
inline const verbs_core_api*& table() {
  static const verbs_core_api* its_table = nullptr;
  return its_table;
}
}  // namespace detail

// Null before setUp(). The same in every environment: it is the table of one addon.
inline const verbs_core_api* core() { return detail::table(); }

// setUp(nativeApi of @verbs/core): its version
inline Napi::Value set_up(const Napi::CallbackInfo& info) {
  constexpr napi_type_tag kTag = VERBS_CORE_API_TAG;
  const auto* api = tagged<const verbs_core_api>(info.Env(), info[0], kTag);
  if (!api) throw wrong_type(info.Env(), "not the native table of @verbs/core");
  // A shorter table has no pointers where this addon reads them.
  if (api->version < VERBS_CORE_API_VERSION) {
    const std::string text = "it needs version " + std::to_string(VERBS_CORE_API_VERSION) +
                             " of the native table of @verbs/core, and finds version " + std::to_string(api->version);
    throw coded(Napi::Error::New(info.Env(), text), "ERR_VERBS_CORE_VERSION");
  }
  detail::table() = api;
  return number(info.Env(), core()->version);
}

// A symbol of a loaded libibverbs; null if it has none. TypeError for a value that is no handle of one.
template <typename T>
T libibverbs_symbol(Napi::Value library, const char* name, const char* version) {
  void* symbol = core()->library_symbol(library.Env(), library, name, version);
  if (!symbol && library.Env().IsExceptionPending()) throw Napi::Error::New(library.Env());
  return reinterpret_cast<T>(symbol);
}

// The base of a provider's own object. The tree owns it, and closes it before its parents.
class Child {
 public:
  virtual ~Child() { live().erase(this); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Puts `child` below its parents. The result is its handle.
  static Napi::Value attach(Napi::Env env, std::unique_ptr<Child> child,
                            const std::vector<verbs_core_object*>& parents) {
    verbs_core_child* link = core()->attach(parents.data(), parents.size(), destroy, child.get());
    if (!link) {
      // The object has no owner, so it is destroyed at once.
      static_cast<void>(child->release());
      throw std::bad_alloc();
    }
    static_cast<void>(child.release());  // the tree's now
    const napi_value handle = core()->child_handle(env, link);
    core()->detach(link);
    return checked(env, handle);
  }

 protected:
  // The address of the static member T::kType stands for the type.
  explicit Child(const void* type) : type_(type) { live().insert(this); }
  // Destroys the library's object: 0, or an errno, which stops the closing.
  virtual int release() = 0;

 private:
  template <typename T>
  friend class Taken;
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

// The kind by which @verbs/core knows a structure of the verbs.
template <typename T>
inline constexpr verbs_core_kind kKindOf = VERBS_CORE_FOREIGN;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_context> = VERBS_CORE_CONTEXT;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_pd> = VERBS_CORE_PD;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_mr> = VERBS_CORE_MR;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_comp_channel> = VERBS_CORE_CHANNEL;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_cq> = VERBS_CORE_CQ;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_qp> = VERBS_CORE_QP;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_srq> = VERBS_CORE_SRQ;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_wq> = VERBS_CORE_WQ;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_rwq_ind_table> = VERBS_CORE_RWQ_IND_TABLE;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_dm> = VERBS_CORE_DM;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_ah> = VERBS_CORE_AH;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_counters> = VERBS_CORE_COUNTERS;

// A counted reference to an object.
struct Release {
  void operator()(verbs_core_object* object) const { core()->release(object); }
};
using Reference = std::unique_ptr<verbs_core_object, Release>;

// An open object for the time of a call, which keeps it open: the structure of a verbs object, or a child. One that was
// made by the constructor without arguments has none.
template <typename T>
class Taken {
 public:
  Taken() = default;
  // TypeError for any value that is no such object, also for a child of another package; an error for a closed one.
  Taken(Napi::Env env, Napi::Value value) {
    static_assert(std::is_base_of_v<Child, T> || kKindOf<T> != VERBS_CORE_FOREIGN);
    if (!core()) throw wrong_type(env, "setUp() comes first");
    taken_.reset(core()->take(env, value, kKindOf<T>));
    if (!taken_) throw Napi::Error::New(env);
    void* found = core()->pointer(object());
    if constexpr (std::is_base_of_v<Child, T>) {
      auto* child = static_cast<Child*>(found);
      if (Child::live().count(child) == 0 || child->type_ != &T::kType) {
        throw wrong_type(env, "the native handle is of another object");
      }
      found_ = static_cast<T*>(child);
    } else {
      found_ = static_cast<T*>(found);
    }
  }

  explicit operator bool() const { return found_ != nullptr; }
  T* get() const { return found_; }
  T* operator->() const { return found_; }
  T& operator*() const { return *found_; }
  verbs_core_object* object() const { return taken_.get(); }
  // What keeps it open, for another to have.
  Reference reference() && { return std::move(taken_); }

 private:
  Reference taken_;
  T* found_ = nullptr;
};

template <typename T>
Taken<T> take(Napi::Value value) {
  return {value.Env(), value};
}
template <typename T>
Taken<T> take(const Napi::CallbackInfo& info, std::size_t index) {
  return {info.Env(), info[index]};
}
// None for an argument that is undefined.
template <typename T>
Taken<T> take_if_given(Napi::Value value) {
  return value.IsUndefined() ? Taken<T>() : take<T>(value);
}

}  // namespace verbs::provider
