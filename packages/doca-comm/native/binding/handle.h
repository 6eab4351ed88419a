// Handles of native objects in JavaScript, and the results of the addon's functions.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "binding/library.h"
#include "provider/napi_setup.h"

namespace verbs::doca_comm::binding {

// A process may have loaded two copies of this addon, of two versions even. So a tag also names the copy, by an address
// in it, and the handles of one are none of the other's.
inline const char kCopy = 0;
inline napi_type_tag tag_of(std::uint64_t kind) { return {kind, reinterpret_cast<std::uintptr_t>(&kCopy)}; }

inline const napi_type_tag kLibraryTag = tag_of(0x2f0d5c6f1a9b4e01ull);
inline const napi_type_tag kDeviceTag = tag_of(0x2f0d5c6f1a9b4e02ull);
inline const napi_type_tag kRepresentorTag = tag_of(0x2f0d5c6f1a9b4e03ull);
inline const napi_type_tag kEndpointTag = tag_of(0x2f0d5c6f1a9b4e04ull);
inline const napi_type_tag kEngineTag = tag_of(0x2f0d5c6f1a9b4e05ull);
inline const napi_type_tag kContextTag = tag_of(0x2f0d5c6f1a9b4e06ull);
inline const napi_type_tag kMmapTag = tag_of(0x2f0d5c6f1a9b4e07ull);

// As those of src/arguments.ts, which looks at most arguments.
inline Napi::Error wrong_type(Napi::Env env, const char* message) {
  Napi::Error error = Napi::TypeError::New(env, message);
  error.Set("code", "ERR_INVALID_ARG_TYPE");
  return error;
}

// The object behind a tagged External; TypeError for any other value.
template <typename T>
T& handle(const Napi::CallbackInfo& info, std::size_t index, const napi_type_tag& tag) {
  if (!info[index].IsExternal() || !info[index].As<Napi::External<T>>().CheckTypeTag(&tag)) {
    throw wrong_type(info.Env(), "not a handle of the expected kind");
  }
  return *info[index].As<Napi::External<T>>().Data();
}

inline const Library& library_of(const Napi::CallbackInfo& info, std::size_t index) {
  return handle<Library>(info, index, kLibraryTag);
}

// A view of a typed array of that type; TypeError for any other value. It may be empty: its memory can be gone.
template <typename Array>
Array view_of(const Napi::CallbackInfo& info, std::size_t index, napi_typedarray_type type) {
  if (!info[index].IsTypedArray() || info[index].As<Napi::TypedArray>().TypedArrayType() != type) {
    throw wrong_type(info.Env(), "not a typed array of the expected type");
  }
  return info[index].As<Array>();
}

// Hands the object to JavaScript. It is freed when its handle is collected.
template <typename T>
Napi::Value give(Napi::Env env, std::unique_ptr<T> object, const napi_type_tag& tag) {
  auto external = Napi::External<T>::New(env, object.get(), [](Napi::BasicEnv, T* held) { delete held; });
  (void)object.release();
  external.TypeTag(&tag);
  return external;
}

// Results of calls: a number, or the negated DOCA error.
inline Napi::Value number(const Napi::CallbackInfo& info, double value) { return Napi::Number::New(info.Env(), value); }
inline Napi::Value failure(const Napi::CallbackInfo& info, doca_error_t error) {
  return number(info, error == DOCA_SUCCESS ? 0 : -static_cast<double>(error));
}

// A failed allocation is NO_MEMORY. The other exceptions become JavaScript's in node-addon-api.
template <Napi::Value (*function)(const Napi::CallbackInfo&)>
Napi::Value contained(const Napi::CallbackInfo& info) {
  try {
    return function(info);
  } catch (const std::bad_alloc&) {
    return failure(info, DOCA_ERROR_NO_MEMORY);
  }
}

template <Napi::Value (*function)(const Napi::CallbackInfo&)>
void add_function(Napi::Object exports, const char* name) {
  exports[name] = Napi::Function::New<contained<function>>(exports.Env(), name);
}

}  // namespace verbs::doca_comm::binding
