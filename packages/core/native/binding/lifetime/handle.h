// What JavaScript holds of a native object: a type-tagged External around a shared_ptr.
#pragma once

#include <memory>

#include "binding/lifetime/napi_setup.h"
#include "binding/lifetime/object.h"

namespace verbs::core {

class Library;

// A new handle. When it is collected, its share of the object is dropped.
Napi::Value WrapObject(Napi::Env env, std::shared_ptr<Object> object);
Napi::Value WrapLibrary(Napi::Env env, std::shared_ptr<const Library> library);

// The object behind a handle, open or closed. Throws TypeError for anything that is no handle of ours.
std::shared_ptr<Object> UnwrapObject(napi_env env, napi_value value);
std::shared_ptr<const Library> UnwrapLibrary(napi_env env, napi_value value);

// The same for one kind of object, and it must be open: throws otherwise (code ERR_VERBS_CLOSED).
std::shared_ptr<Object> UnwrapOpen(napi_env env, napi_value value, verbs_core_kind kind);

// True the first time that it is asked for a handle: each is for one object of JavaScript.
bool Claim(napi_env env, napi_value value);

template <typename T>
std::shared_ptr<T> Unwrap(const Napi::CallbackInfo& info, std::size_t index) {
  return std::static_pointer_cast<T>(UnwrapOpen(info.Env(), info[index], T::kKind));
}

const char* KindName(verbs_core_kind kind);

// How a call of the C library ends: a non-negative result, or the errno, negated as in Node's own errors.
inline Napi::Value Failure(Napi::Env env, int error) { return Napi::Number::New(env, -error); }

// Some providers give NULL without setting errno.
int CreationError();

template <Napi::Value (*F)(const Napi::CallbackInfo&)>
void Export(Napi::Object exports, const char* name) {
  exports.Set(name, Napi::Function::New<F>(exports.Env(), name));
}

}  // namespace verbs::core
