// Handles of native objects in JavaScript, and the results of the addon's functions.
#pragma once

#include <memory>

#include "binding/library.h"
#include "provider/napi_setup.h"

namespace verbs::doca_comm::binding {

inline constexpr napi_type_tag kLibraryTag{0x2f0d5c6f1a9b4e01ull, 0x8d3c5b7a6e4f2101ull};
inline constexpr napi_type_tag kDeviceTag{0x2f0d5c6f1a9b4e02ull, 0x8d3c5b7a6e4f2102ull};
inline constexpr napi_type_tag kRepresentorTag{0x2f0d5c6f1a9b4e03ull, 0x8d3c5b7a6e4f2103ull};
inline constexpr napi_type_tag kEndpointTag{0x2f0d5c6f1a9b4e04ull, 0x8d3c5b7a6e4f2104ull};

// The object behind a tagged External; TypeError for any other value.
template <typename T>
T& handle(const Napi::CallbackInfo& info, std::size_t index, const napi_type_tag& tag) {
  if (!info[index].IsExternal() || !info[index].As<Napi::External<T>>().CheckTypeTag(&tag)) {
    throw Napi::TypeError::New(info.Env(), "not a handle of the expected kind");
  }
  return *info[index].As<Napi::External<T>>().Data();
}

inline const Library& library_of(const Napi::CallbackInfo& info, std::size_t index) {
  return handle<Library>(info, index, kLibraryTag);
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

template <Napi::Value (*function)(const Napi::CallbackInfo&)>
void add_function(Napi::Object exports, const char* name) {
  exports[name] = Napi::Function::New<function>(exports.Env(), name);
}

}  // namespace verbs::doca_comm::binding
