// Where C++ ends: no exception of an addon reaches Node.js, which would end the process.
#pragma once

#include <node_api.h>

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>

namespace verbs::provider {

namespace detail {

inline void define(napi_env env, napi_value object, napi_value name, napi_value value) {
  const napi_property_descriptor property{nullptr, name, nullptr, nullptr, nullptr, value, napi_writable, nullptr};
  napi_define_properties(env, object, 1, &property);
}

inline napi_value ascii(napi_env env, const char* text) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  return value;
}

}  // namespace detail

// A JavaScript exception: an Error of @verbs/core by its brand (src/base/errors.ts), as if the C library had failed
// with ENOMEM.
inline void throw_out_of_memory(napi_env env) {
  napi_value error = nullptr, brand = nullptr, yes = nullptr, number = nullptr;
  const char* const text = "ENOMEM: cannot allocate memory, for the arguments or the result of a call";
  if (napi_create_error(env, detail::ascii(env, "ENOMEM"), detail::ascii(env, text), &error) != napi_ok) return;
  napi_create_int32(env, -ENOMEM, &number);
  napi_set_named_property(env, error, "errno", number);
  napi_set_named_property(env, error, "syscall", detail::ascii(env, "verbs"));
  napi_get_boolean(env, true, &yes);
  node_api_symbol_for(env, "@verbs/core.VerbsError", NAPI_AUTO_LENGTH, &brand);
  detail::define(env, error, brand, yes);
  detail::define(env, error, detail::ascii(env, "name"), detail::ascii(env, "VerbsError"));
  napi_throw(env, error);
}

// Runs `call`, or turns its C++ exception into a JavaScript one and returns null.
template <typename Call>
napi_value contain(napi_env env, Call&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(env);
  } catch (const std::length_error&) {
    throw_out_of_memory(env);
  } catch (const std::exception& error) {
    bool pending = false;
    if (napi_is_exception_pending(env, &pending) == napi_ok && !pending) napi_throw_error(env, nullptr, error.what());
  }
  return nullptr;
}

}  // namespace verbs::provider
