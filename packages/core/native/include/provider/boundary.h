// Where C++ ends: the functions of an addon for JavaScript. No exception of theirs reaches Node.js, which would end the
// process.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "provider/napi_setup.h"

namespace verbs::provider {

// What a call answers where memory is short: a result, or nothing with a JavaScript exception pending.
using OutOfMemory = Napi::Value (*)(Napi::Env env);

// An Error of @verbs/core by its brand (src/base/errors.ts), as if the C library had failed with ENOMEM. C++ allocates
// nothing for it.
inline Napi::Value throw_out_of_memory(Napi::Env its_env) {
  napi_env env = its_env;
  const auto ascii = [env](const char* text) {
    napi_value value = nullptr;
    napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
    return value;
  };
  napi_value error = nullptr, brand = nullptr, yes = nullptr, number = nullptr;
  const napi_value text = ascii("ENOMEM: cannot allocate memory, for the arguments or the result of a call");
  if (napi_create_error(env, ascii("ENOMEM"), text, &error) != napi_ok) return {};
  const auto hidden = [env, error](napi_value name, napi_value value) {
    const napi_property_descriptor property{nullptr, name, nullptr, nullptr, nullptr, value, napi_writable, nullptr};
    napi_define_properties(env, error, 1, &property);
  };
  napi_create_int32(env, -ENOMEM, &number);
  napi_set_named_property(env, error, "errno", number);
  napi_set_named_property(env, error, "syscall", ascii("verbs"));
  napi_get_boolean(env, true, &yes);
  node_api_symbol_for(env, "@verbs/core.VerbsError", NAPI_AUTO_LENGTH, &brand);
  hidden(brand, yes);
  hidden(ascii("name"), ascii("VerbsError"));
  napi_throw(env, error);
  return {};
}

// Runs `call`, or turns its C++ exception into a JavaScript one and returns null. A function of JavaScript answers a
// failed allocation by `kOutOfMemory`.
template <OutOfMemory kOutOfMemory = throw_out_of_memory, typename Call>
auto contain(napi_env env, Call&& call) -> decltype(call()) {
  const auto out_of_memory = [env]() -> decltype(call()) {
    [[maybe_unused]] const Napi::Value answer = kOutOfMemory(env);
    if constexpr (std::is_same_v<decltype(call()), napi_value>) return answer;
    return {};
  };
  // The outer block: Node-API itself fails where the environment ends, or where another exception is pending.
  try {
    try {
      return call();
    } catch (const Napi::Error& error) {
      error.ThrowAsJavaScriptException();
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    } catch (const std::length_error&) {
      return out_of_memory();
    } catch (const std::exception& error) {
      napi_throw_error(env, nullptr, error.what());
    }
  } catch (const Napi::Error&) {  // nobody hears of it
  }
  return {};
}

// A plain call of Node-API, for what must be fast: its arguments take no allocation, however many they are.
using PlainFunction = napi_value (*)(napi_env env, napi_callback_info info);

template <std::size_t kCount>
class PlainArguments {
 public:
  PlainArguments(napi_env env, napi_callback_info info) : env_(env) {
    std::size_t count = kCount;
    if (napi_get_cb_info(env, info, &count, values_, nullptr, nullptr) != napi_ok) throw Napi::Error::New(env);
  }
  // Undefined if it was left out.
  Napi::Value operator[](std::size_t index) const { return {env_, values_[index]}; }

 private:
  napi_env env_;
  napi_value values_[kCount];
};

template <PlainFunction F, OutOfMemory kOutOfMemory = throw_out_of_memory>
void export_plain(Napi::Object exports, const char* name) {
  const napi_callback call = [](napi_env env, napi_callback_info info) {
    return contain<kOutOfMemory>(env, [&] { return F(env, info); });
  };
  napi_value function = nullptr;
  if (napi_create_function(exports.Env(), name, NAPI_AUTO_LENGTH, call, nullptr, &function) != napi_ok) {
    throw Napi::Error::New(exports.Env());
  }
  exports.Set(name, function);
}

// The form of every other function.
using Function = Napi::Value (*)(const Napi::CallbackInfo& info);

template <Function F>
napi_value plainly(napi_env env, napi_callback_info info) {
  return F(Napi::CallbackInfo(env, info));
}

template <Function F, OutOfMemory kOutOfMemory = throw_out_of_memory>
void export_function(Napi::Object exports, const char* name) {
  export_plain<plainly<F>, kOutOfMemory>(exports, name);
}

}  // namespace verbs::provider
