// Arguments of the functions of Comch, and their results.
#pragma once

#include "binding/comch/context.h"
#include "binding/handle.h"
#include "provider/core.h"

namespace verbs::doca_comm::binding {

using provider::Arguments;

// The object behind a tagged External; null with a TypeError pending for any other value.
template <typename T>
T* held(const Arguments& arguments, std::size_t index, const napi_type_tag& tag) {
  void* data = nullptr;
  if (provider::tagged(arguments.env, arguments[index], tag, &data)) return static_cast<T*>(data);
  napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", "not a handle of the expected kind");
  return nullptr;
}

// An engine that JavaScript has.
struct EngineHolder {
  std::shared_ptr<Engine> engine;

  explicit EngineHolder(std::shared_ptr<Engine> its_engine) : engine(std::move(its_engine)) {}
  ~EngineHolder() { engine->orphan(); }
  EngineHolder(const EngineHolder&) = delete;
  EngineHolder& operator=(const EngineHolder&) = delete;
};

// Results: a number, or the negated DOCA error.
inline napi_value failure(const Arguments& arguments, doca_error_t error) {
  return provider::number(arguments.env, error == DOCA_SUCCESS ? 0 : -static_cast<double>(error));
}

// The context of argument 0, which is of a kind that fits. Null where it is destroyed, or with a TypeError pending.
template <typename T>
T* context_of(const Arguments& arguments, bool (*fits)(Context::Kind)) {
  auto* holder = held<ContextHolder>(arguments, 0, kContextTag);
  if (holder == nullptr) return nullptr;
  if (holder->context != nullptr && !fits(holder->context->kind())) {
    napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", "not a handle of the expected kind");
    return nullptr;
  }
  return static_cast<T*>(holder->context);
}
inline Context* context_of(const Arguments& arguments) {
  return context_of<Context>(arguments, [](Context::Kind) { return true; });
}
// What a call answers then.
inline napi_value destroyed(const Arguments& arguments) {
  bool pending = false;
  napi_is_exception_pending(arguments.env, &pending);
  return pending ? nullptr : failure(arguments, DOCA_ERROR_NOT_CONNECTED);
}

// A view of 32-bit unsigned numbers; nothing for any other value. Do not keep it across calls of JavaScript.
struct Words {
  std::uint32_t* data = nullptr;
  std::size_t count = 0;
};
inline Words to_words(napi_env env, napi_value value) {
  bool is = false;
  napi_typedarray_type type{};
  std::size_t length = 0;
  void* data = nullptr;
  if (napi_is_typedarray(env, value, &is) != napi_ok || !is) return {};
  napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr);
  return type == napi_uint32_array ? Words{static_cast<std::uint32_t*>(data), length} : Words{};
}

// Hands an object to JavaScript, which frees it when the handle is collected.
template <typename T>
napi_value give(napi_env env, std::unique_ptr<T> made, const napi_type_tag& tag) {
  napi_value external = nullptr;
  const auto drop = [](node_api_basic_env, void* data, void*) { delete static_cast<T*>(data); };
  if (napi_create_external(env, made.get(), drop, nullptr, &external) != napi_ok) return nullptr;
  static_cast<void>(made.release());  // the handle's now
  napi_type_tag_object(env, external, &tag);
  return external;
}

}  // namespace verbs::doca_comm::binding
