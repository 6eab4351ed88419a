// Handles of native objects in JavaScript: a type-tagged External around a shared_ptr.
#pragma once

#include <memory>

#include "binding/lifetime/object.h"
#include "provider/napi_setup.h"

namespace verbs::core {

class Library;

// A new handle. When it is collected, its share of the object is dropped.
Napi::Value wrap_object(Napi::Env env, std::shared_ptr<Object> object);
Napi::Value wrap_library(Napi::Env env, std::shared_ptr<const Library> library);

// The object behind a handle, open or closed. Throws TypeError for anything that is no handle of ours.
std::shared_ptr<Object> unwrap_object(napi_env env, napi_value value);
std::shared_ptr<const Library> unwrap_library(napi_env env, napi_value value);

// The same for one kind of object, and it must be open: throws otherwise (code ERR_VERBS_CLOSED).
std::shared_ptr<Object> unwrap_open(napi_env env, napi_value value, verbs_core_kind kind);

// True the first time that it is asked for a handle: each is for one object of JavaScript.
bool claim(napi_env env, napi_value value);

template <typename T>
std::shared_ptr<T> unwrap(const Napi::CallbackInfo& info, std::size_t index) {
  return std::static_pointer_cast<T>(unwrap_open(info.Env(), info[index], T::kKind));
}

const char* kind_name(verbs_core_kind kind);

// How a call of the C library ends: a non-negative result, or the errno, negated as in Node's own errors.
inline Napi::Value failure(Napi::Env env, int error) { return Napi::Number::New(env, -error); }

// Some providers give NULL without setting errno.
int creation_error();

template <Napi::Value (*F)(const Napi::CallbackInfo&)>
void export_function(Napi::Object exports, const char* name) {
  exports.Set(name, Napi::Function::New<F>(exports.Env(), name));
}

}  // namespace verbs::core
