// The objects of libmlx5 that JavaScript holds.
#pragma once

#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "binding/library.h"

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
Napi::Value attach(Napi::Env env, const Library& library, const ibv_context* context, T* created,
                   typename Object<T>::Destroy destroy, const std::vector<verbs_core_object*>& parents) {
  if (!created) return failure(env, errno);
  return Child::attach(env, std::make_unique<Object<T>>(library, context, created, destroy), parents);
}

// A handle with further fields: { handle, … }. A failure is returned unchanged.
inline Napi::Value described(Napi::Env env, Napi::Value handle,
                             std::initializer_list<std::pair<const char*, Napi::Value>> fields) {
  if (!handle.IsExternal()) return handle;
  Napi::Object result = Napi::Object::New(env);
  result.Set("handle", handle);
  for (const auto& [name, value] : fields) result.Set(name, value);
  return result;
}

// The objects of a call: they stay until its end, and are the parents of the object that it creates.
class Held {
 public:
  // The open object of libmlx5 behind a value, never null: TypeError for any other value.
  template <typename T>
  Object<T>* object(Napi::Value value) {
    return hold(take<Object<T>>(value));
  }
  template <typename T>
  Object<T>* object(const Napi::CallbackInfo& info, std::size_t index) {
    return object<T>(info[index]);
  }
  // The same for an object of @verbs/core.
  template <typename T>
  T* verbs(Napi::Value value) {
    return hold(take<T>(value));
  }
  template <typename T>
  T* verbs(const Napi::CallbackInfo& info, std::size_t index) {
    return verbs<T>(info[index]);
  }
  // The same, and it must belong to the libibverbs that goes with the library.
  template <typename T>
  T* verbs(const Library& library, const Napi::CallbackInfo& info, std::size_t index) {
    T* found = verbs<T>(info, index);
    if (core()->library(newest()) == library.kind) return found;
    throw wrong_type(info.Env(), "the object belongs to another kind of library");
  }

  const std::vector<verbs_core_object*>& parents() const { return parents_; }
  verbs_core_object* newest() const { return parents_.back(); }

 private:
  template <typename T>
  T* hold(Taken<T> taken) {
    T* found = taken.get();
    parents_.push_back(taken.object());
    held_.push_back(std::move(taken).reference());
    return found;
  }
  std::vector<Reference> held_;
  std::vector<verbs_core_object*> parents_;
};

// The subject of most calls: the library in their first argument and the object of @verbs/core in the second. It holds
// both until the call's end.
template <typename T>
class Subject {
 public:
  explicit Subject(const Napi::CallbackInfo& info)
      : library_(library_of(info, 0)), object_(held.verbs<T>(library_, info, 1)) {}

  T* get() const { return object_; }
  const Library& library() const { return library_; }

  // The handle of the object created from it and the other held objects, or -errno if `created` is null.
  template <typename Made>
  Napi::Value attach(Napi::Env env, Made* created, typename Object<Made>::Destroy destroy) const {
    const ibv_context* context = nullptr;
    if constexpr (std::is_same_v<T, ibv_context>) {
      context = object_;
    } else {
      context = object_->context;
    }
    return binding::attach(env, library_, context, created, destroy, held.parents());
  }

  Held held;

 private:
  const Library& library_;
  T* object_;
};

}  // namespace verbs::mlx5::binding
