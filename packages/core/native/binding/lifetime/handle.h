// Handles of native objects in JavaScript: a type-tagged External around a shared_ptr.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "binding/lifetime/object.h"
#include "provider/boundary.h"
#include "provider/napi_setup.h"

namespace verbs::core {

class Library;

// A new handle. When it is collected, its share of the object is dropped.
Napi::Value wrap_object(Napi::Env env, std::shared_ptr<Object> object);
Napi::Value wrap_library(Napi::Env env, std::shared_ptr<const Library> library);

// The object behind a handle, open or closed. Throws TypeError for anything that is no handle of ours.
std::shared_ptr<Object> unwrap_object(napi_env env, napi_value value);
std::shared_ptr<const Library> unwrap_library(napi_env env, napi_value value);

// The same for one kind of object, and it must be open: throws otherwise (code ERR_VERBS_CLOSED). JavaScript that runs
// afterwards may close it: where arguments are still to be read, take hold() of it.
std::shared_ptr<Object> unwrap_open(napi_env env, napi_value value, verbs_core_kind kind);

// True the first time that it is asked for a handle: each is for one object of JavaScript. `destroyer` is the name of
// its destroy function.
bool claim(napi_env env, napi_value value, std::string destroyer);

// An object for the time of a call, which keeps it open. What outlives the call keeps the shared_ptr.
template <typename T>
class Held : public std::shared_ptr<T> {
 public:
  Held(std::nullptr_t = nullptr) {}
  explicit Held(std::shared_ptr<T> object) : std::shared_ptr<T>(std::move(object)), held_(*this) {
    held_->begin_call();
  }
  ~Held() {
    if (held_) held_->end_call();
  }
  Held(Held&&) = default;
  Held& operator=(Held&& other) {
    this->swap(other);
    held_.swap(other.held_);
    return *this;
  }

 private:
  std::shared_ptr<T> held_;  // the base may be moved from
};

// The open object behind a handle, for the time of the call. Throws as unwrap_open() does.
template <typename T>
Held<T> hold(napi_env env, napi_value value) {
  return Held<T>(std::static_pointer_cast<T>(unwrap_open(env, value, T::kKind)));
}
template <typename T>
Held<T> unwrap(const Napi::CallbackInfo& info, std::size_t index) {
  return hold<T>(info.Env(), info[index]);
}

const char* kind_name(verbs_core_kind kind);

// How a call of the C library ends: a non-negative result, or the errno, negated as in Node's own errors.
inline Napi::Value failure(Napi::Env env, int error) { return Napi::Number::New(env, -error); }

// Some providers give NULL without setting errno.
int creation_error();

// A failed allocation is a VerbsError with ENOMEM. The other exceptions become JavaScript's in node-addon-api.
template <Napi::Value (*F)(const Napi::CallbackInfo&)>
Napi::Value contained(const Napi::CallbackInfo& info) {
  try {
    return F(info);
  } catch (const std::bad_alloc&) {
    provider::throw_out_of_memory(info.Env());
  } catch (const std::length_error&) {
    provider::throw_out_of_memory(info.Env());
  }
  return {};
}

template <Napi::Value (*F)(const Napi::CallbackInfo&)>
void export_function(Napi::Object exports, const char* name) {
  exports.Set(name, Napi::Function::New<contained<F>>(exports.Env(), name));
}

}  // namespace verbs::core
