// The objects of libmlx5 that JavaScript holds.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "binding/library.h"
#include "provider/child.h"

namespace verbs::mlx5::binding {

// An object of the library with the function that destroys it.
template <typename T>
class Object final : public Child {
 public:
  static constexpr char kType = 0;
  // 0 or an errno.
  using Destroy = int (*)(const Library& library, T* object);

  Object(const Library& library, const ibv_context* context, T* object, Destroy destroy)
      : Child(&kType), library_(library), context_(context), object_(object), destroy_(destroy) {}

  T* get() const { return object_; }
  const Library& library() const { return library_; }
  const ibv_context* context() const { return context_; }

 private:
  int release() override { return destroy_(library_, object_); }

  const Library& library_;
  const ibv_context* context_;
  T* object_;
  Destroy destroy_;
};

// The handle of a new object, or -errno if `created` is null.
template <typename T>
napi_value attach(napi_env env, const Library& library, const ibv_context* context, T* created,
                  typename Object<T>::Destroy destroy, const std::vector<verbs_core_object*>& parents) {
  if (!created) return failure(env, errno);
  return Child::attach(env, std::make_unique<Object<T>>(library, context, created, destroy), parents);
}

// A handle with further fields: { handle, … }. A failure is returned unchanged.
inline napi_value described(napi_env env, napi_value handle,
                            std::initializer_list<std::pair<const char*, napi_value>> fields) {
  napi_valuetype type = napi_undefined;
  if (!handle || napi_typeof(env, handle, &type) != napi_ok || type != napi_external) return handle;
  napi_value result = provider::object(env);
  set(env, result, "handle", handle);
  for (const auto& [name, value] : fields) set(env, result, name, value);
  return result;
}

// The objects of a call: they stay until its end, and are the parents of the object that it creates.
class Held {
 public:
  // The open object of libmlx5 behind a value; null with an exception pending.
  template <typename T>
  Object<T>* object(napi_env env, napi_value value) {
    Taken keep;
    auto* found = Child::of<Object<T>>(env, value, &keep);
    if (found) hold(std::move(keep));
    return found;
  }
  template <typename T>
  Object<T>* object(const Arguments& arguments, std::size_t index) {
    return object<T>(arguments.env, arguments[index]);
  }
  // The same for an object of @verbs/core.
  template <typename T>
  T* verbs(napi_env env, napi_value value, verbs_core_kind kind) {
    Taken keep = take(env, value, kind);
    if (!keep) return nullptr;
    T* found = pointer<T>(keep);
    hold(std::move(keep));
    return found;
  }
  template <typename T>
  T* verbs(const Arguments& arguments, std::size_t index, verbs_core_kind kind) {
    return verbs<T>(arguments.env, arguments[index], kind);
  }
  // The same, and it must belong to the libibverbs that goes with the library.
  template <typename T>
  T* verbs(const Library& library, const Arguments& arguments, std::size_t index, verbs_core_kind kind) {
    T* found = verbs<T>(arguments, index, kind);
    if (!found || core()->library(newest()) == library.kind) return found;
    napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", "the object belongs to another kind of library");
    return nullptr;
  }
  ibv_context* context(const Library& library, const Arguments& arguments, std::size_t index) {
    return verbs<ibv_context>(library, arguments, index, VERBS_CORE_CONTEXT);
  }

  const std::vector<verbs_core_object*>& parents() const { return parents_; }
  verbs_core_object* newest() const { return parents_.back(); }

 private:
  void hold(Taken keep) {
    parents_.push_back(keep.get());
    held_.push_back(std::move(keep));
  }
  std::vector<Taken> held_;
  std::vector<verbs_core_object*> parents_;
};

// The kind by which @verbs/core knows a structure of the verbs.
template <typename T>
inline constexpr verbs_core_kind kKindOf = VERBS_CORE_FOREIGN;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_context> = VERBS_CORE_CONTEXT;
template <>
inline constexpr verbs_core_kind kKindOf<ibv_pd> = VERBS_CORE_PD;
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

// The subject of most calls: the library in their first argument and the object of @verbs/core in the second. It holds
// both until the call's end. False, with an exception pending, if one of them is none.
template <typename T>
class Subject {
 public:
  explicit Subject(const Arguments& arguments)
      : library_(library_of(arguments, 0)),
        object_(library_ ? held.verbs<T>(*library_, arguments, 1, kKindOf<T>) : nullptr) {}

  explicit operator bool() const { return object_ != nullptr; }
  T* get() const { return object_; }
  const Library& library() const { return *library_; }

  // The handle of the object created from it and the other held objects, or -errno if `created` is null.
  template <typename Made>
  napi_value attach(napi_env env, Made* created, typename Object<Made>::Destroy destroy) const {
    const ibv_context* context = nullptr;
    if constexpr (std::is_same_v<T, ibv_context>) {
      context = object_;
    } else {
      context = object_->context;
    }
    return binding::attach(env, *library_, context, created, destroy, held.parents());
  }

  Held held;

 private:
  const Library* library_;
  T* object_;
};

}  // namespace verbs::mlx5::binding
