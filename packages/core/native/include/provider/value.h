// Conversions between JavaScript values and C ones. TypeScript has checked the values; a wrong one converts to 0.
#pragma once

#include <node_api.h>

#include <cstdint>
#include <string>

#include "provider/boundary.h"

namespace verbs::provider {

class Arguments {
 public:
  Arguments(napi_env its_env, napi_callback_info info) : env(its_env) {
    std::size_t count = kMax;
    napi_get_cb_info(env, info, &count, values_, nullptr, nullptr);
    for (std::size_t i = count; i < kMax; ++i) napi_get_undefined(env, &values_[i]);
  }
  napi_value operator[](std::size_t index) const { return values_[index]; }
  // The arguments from that one on.
  const napi_value* from(std::size_t index) const { return values_ + index; }
  napi_env const env;

 private:
  static constexpr std::size_t kMax = 10;
  napi_value values_[kMax];
};

inline napi_value number(napi_env env, double value) {
  napi_value result = nullptr;
  napi_create_double(env, value, &result);
  return result;
}
inline napi_value failure(napi_env env, int error) { return number(env, -error); }
inline napi_value big(napi_env env, std::uint64_t value) {
  napi_value result = nullptr;
  napi_create_bigint_uint64(env, value, &result);
  return result;
}
inline napi_value boolean(napi_env env, bool value) {
  napi_value result = nullptr;
  napi_get_boolean(env, value, &result);
  return result;
}
inline napi_value undefined(napi_env env) {
  napi_value result = nullptr;
  napi_get_undefined(env, &result);
  return result;
}
inline napi_value text(napi_env env, const std::string& value) {
  napi_value result = nullptr;
  napi_create_string_utf8(env, value.data(), value.size(), &result);
  return result;
}
inline napi_value object(napi_env env) {
  napi_value result = nullptr;
  napi_create_object(env, &result);
  return result;
}
inline void set(napi_env env, napi_value to, const char* name, napi_value value) {
  if (value) napi_set_named_property(env, to, name, value);
}

inline napi_value get(napi_env env, napi_value from, const char* name) {
  napi_value value = nullptr;
  if (napi_get_named_property(env, from, name, &value) != napi_ok) napi_get_undefined(env, &value);
  return value;
}
inline bool is_undefined(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  return napi_typeof(env, value, &type) != napi_ok || type == napi_undefined;
}
// Of an array; 0 for any other value.
inline std::uint32_t length_of(napi_env env, napi_value value) {
  std::uint32_t length = 0;
  return napi_get_array_length(env, value, &length) == napi_ok ? length : 0;
}
inline napi_value element(napi_env env, napi_value from, std::uint32_t index) {
  napi_value value = nullptr;
  if (napi_get_element(env, from, index, &value) != napi_ok) napi_get_undefined(env, &value);
  return value;
}
inline bool to_boolean(napi_env env, napi_value value) {
  bool result = false;
  napi_get_value_bool(env, value, &result);
  return result;
}
inline std::int64_t to_integer(napi_env env, napi_value value) {
  std::int64_t result = 0;
  napi_get_value_int64(env, value, &result);
  return result;
}
inline std::uint32_t to_u32(napi_env env, napi_value value) {
  return static_cast<std::uint32_t>(to_integer(env, value));
}
// A bigint, or a number.
inline std::uint64_t to_u64(napi_env env, napi_value value) {
  std::uint64_t result = 0;
  bool lossless = false;
  if (napi_get_value_bigint_uint64(env, value, &result, &lossless) == napi_ok) return result;
  return static_cast<std::uint64_t>(to_integer(env, value));
}
inline std::string to_string(napi_env env, napi_value value) {
  std::size_t length = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) return {};
  std::string text(length, '\0');
  napi_get_value_string_utf8(env, value, text.data(), length + 1, &length);
  return text;
}

struct Bytes {
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
};
// Of a Uint8Array or BigUint64Array; nothing for any other value. Do not keep it across calls of JavaScript.
inline Bytes to_bytes(napi_env env, napi_value value) {
  bool is = false;
  napi_typedarray_type type{};
  std::size_t length = 0;
  void* data = nullptr;
  if (napi_is_typedarray(env, value, &is) != napi_ok || !is) return {};
  napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr);
  if (type == napi_uint8_array) return {static_cast<std::uint8_t*>(data), length};
  if (type == napi_biguint64_array) return {static_cast<std::uint8_t*>(data), length * 8};
  return {};
}

using Function = napi_value (*)(const Arguments& arguments);

template <Function F>
void export_function(napi_env env, napi_value exports, const char* name) {
  const napi_callback call = [](napi_env its_env, napi_callback_info info) {
    return contain(its_env, [&] { return F(Arguments(its_env, info)); });
  };
  napi_value function = nullptr;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, call, nullptr, &function);
  set(env, exports, name, function);
}

}  // namespace verbs::provider
