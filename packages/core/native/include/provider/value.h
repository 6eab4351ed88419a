// Conversions between JavaScript values and C ones. TypeScript has checked the values: a value of another type is a
// TypeError all the same, and undefined, a field that is left out, is 0, false or empty.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "provider/napi_setup.h"

namespace verbs::provider {

// How a call of a C library ends: a result that is not negative, or the errno, negated as in Node's own errors.
inline Napi::Value failure(Napi::Env env, int error) { return Napi::Number::New(env, -error); }
inline Napi::Value number(Napi::Env env, double value) { return Napi::Number::New(env, value); }
inline Napi::Value big(Napi::Env env, std::uint64_t value) { return Napi::BigInt::New(env, value); }
inline Napi::Value text(Napi::Env env, const std::string& value) { return Napi::String::New(env, value); }

inline Napi::Error coded(Napi::Error error, const char* code) {
  error.Set("code", code);
  return error;
}
// As those of TypeScript, which looks at most arguments first.
inline Napi::Error wrong_type(Napi::Env env, const std::string& message) {
  return coded(Napi::TypeError::New(env, message), "ERR_INVALID_ARG_TYPE");
}

// The arguments from that one on, for a function of @verbs/core that reads them itself.
inline std::array<napi_value, 8> arguments_from(const Napi::CallbackInfo& info, std::size_t index) {
  std::array<napi_value, 8> arguments{};
  for (napi_value& each : arguments) each = info[index++];
  return arguments;
}

// A result of another addon or of Node-API itself, which is null where an exception is pending.
inline Napi::Value checked(Napi::Env env, napi_value value) {
  if (value == nullptr) throw Napi::Error::New(env);
  return {env, value};
}

namespace detail {
inline bool left_out(Napi::Value value) { return value.IsEmpty() || value.IsUndefined(); }
}  // namespace detail

// An integer or an enumerator of C: the lower bits of a longer number.
template <typename T>
T number_of(Napi::Value value) {
  if constexpr (std::is_floating_point_v<T>) {
    double result = 0;
    if (napi_get_value_double(value.Env(), value, &result) == napi_ok) return static_cast<T>(result);
  } else {
    std::int64_t result = 0;
    if (napi_get_value_int64(value.Env(), value, &result) == napi_ok) return static_cast<T>(result);
  }
  if (!detail::left_out(value)) throw wrong_type(value.Env(), "A number was expected");
  return {};
}

// A bigint, or a number.
inline std::uint64_t u64_of(Napi::Value value) {
  std::uint64_t result = 0;
  bool lossless = false;
  if (napi_get_value_bigint_uint64(value.Env(), value, &result, &lossless) == napi_ok) return result;
  return number_of<std::uint64_t>(value);
}

inline bool flag_of(Napi::Value value) {
  bool result = false;
  if (napi_get_value_bool(value.Env(), value, &result) != napi_ok && !detail::left_out(value)) {
    throw wrong_type(value.Env(), "A boolean was expected");
  }
  return result;
}

inline std::string string_of(Napi::Value value) {
  if (detail::left_out(value)) return {};
  if (!value.IsString()) throw wrong_type(value.Env(), "A string was expected");
  return value.As<Napi::String>();
}

inline Napi::Array list_of(Napi::Value value) {
  if (detail::left_out(value)) return Napi::Array::New(value.Env());
  if (!value.IsArray()) throw wrong_type(value.Env(), "An array was expected");
  return value.As<Napi::Array>();
}

// The elements of a typed array. Do not keep them across calls of JavaScript.
template <typename T>
struct View {
  T* data = nullptr;
  std::size_t size = 0;
};

namespace detail {
struct RawView {
  napi_typedarray_type type{};
  void* data = nullptr;
  std::size_t length = 0;
  bool is = false;
};
inline RawView raw_view(Napi::Value value) {
  RawView view;
  view.is =
      napi_get_typedarray_info(value.Env(), value, &view.type, &view.length, &view.data, nullptr, nullptr) == napi_ok;
  return view;
}
}  // namespace detail

using Bytes = View<std::uint8_t>;
// Of a Uint8Array, or the bytes of a BigUint64Array.
inline Bytes bytes_of(Napi::Value value) {
  if (detail::left_out(value)) return {};
  const detail::RawView view = detail::raw_view(value);
  if (view.is && view.type == napi_uint8_array) return {static_cast<std::uint8_t*>(view.data), view.length};
  if (view.is && view.type == napi_biguint64_array) return {static_cast<std::uint8_t*>(view.data), view.length * 8};
  throw wrong_type(value.Env(), "A Uint8Array was expected");
}

// Of a Uint32Array, or of a BigUint64Array.
template <typename T>
View<T> words_of(Napi::Value value) {
  static_assert(std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>);
  constexpr bool kLong = sizeof(T) == sizeof(std::uint64_t);
  if (detail::left_out(value)) return {};
  const detail::RawView view = detail::raw_view(value);
  if (view.is && view.type == (kLong ? napi_biguint64_array : napi_uint32_array)) {
    return {static_cast<T*>(view.data), view.length};
  }
  throw wrong_type(value.Env(), kLong ? "A BigUint64Array was expected" : "A Uint32Array was expected");
}

// A Uint8Array with a copy of the bytes.
inline Napi::Value copied(Napi::Env env, const void* data, std::size_t size) {
  Napi::Uint8Array array = Napi::Uint8Array::New(env, size);
  if (size != 0) std::memcpy(array.Data(), data, size);
  return array;
}

// The fields of an object. Reading one may run JavaScript (a getter, a proxy): read the bytes of a view last.
class Fields {
 public:
  explicit Fields(Napi::Value value) : value_(value) {
    if (!value.IsObject()) throw wrong_type(value.Env(), "An object was expected");
  }
  Napi::Value operator[](const char* name) const { return Napi::Object(value_.Env(), value_).Get(name); }
  template <typename T>
  T number(const char* name) const {
    return number_of<T>((*this)[name]);
  }
  std::uint32_t u32(const char* name) const { return number<std::uint32_t>(name); }
  std::uint64_t u64(const char* name) const { return u64_of((*this)[name]); }
  bool flag(const char* name) const { return flag_of((*this)[name]); }
  std::string string(const char* name) const { return string_of((*this)[name]); }
  Napi::Array list(const char* name) const { return list_of((*this)[name]); }
  Bytes bytes(const char* name) const { return bytes_of((*this)[name]); }

 private:
  Napi::Value value_;
};

}  // namespace verbs::provider
