// The table of @verbs/core, and its objects for the time of a call.
#pragma once

#include <memory>
#include <string>

#include "provider/value.h"
#include "verbs_core.h"

namespace verbs::provider {

namespace detail {
inline const verbs_core_api*& table() {
  static const verbs_core_api* its_table = nullptr;
  return its_table;
}
}  // namespace detail

// Null before setUp(). The same in every environment: it is the table of one addon.
inline const verbs_core_api* core() { return detail::table(); }

// Whether the value is an External with that tag; then `data` is its content.
inline bool tagged(napi_env env, napi_value value, const napi_type_tag& tag, void** data) {
  napi_valuetype type = napi_undefined;
  bool ours = false;
  return napi_typeof(env, value, &type) == napi_ok && type == napi_external &&
         napi_check_object_type_tag(env, value, &tag, &ours) == napi_ok && ours &&
         napi_get_value_external(env, value, data) == napi_ok;
}

// setUp(nativeApi of @verbs/core): its version
inline napi_value set_up(const Arguments& arguments) {
  constexpr napi_type_tag kTag = VERBS_CORE_API_TAG;
  void* table = nullptr;
  if (!tagged(arguments.env, arguments[0], kTag, &table)) {
    napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", "not the native table of @verbs/core");
    return nullptr;
  }
  const auto* api = static_cast<const verbs_core_api*>(table);
  // A shorter table has no pointers where this addon reads them.
  if (api->version < VERBS_CORE_API_VERSION) {
    const std::string text = "it needs version " + std::to_string(VERBS_CORE_API_VERSION) +
                             " of the native table of @verbs/core, and finds version " + std::to_string(api->version);
    napi_throw_error(arguments.env, "ERR_VERBS_CORE_VERSION", text.c_str());
    return nullptr;
  }
  detail::table() = api;
  return number(arguments.env, core()->version);
}

struct Release {
  void operator()(verbs_core_object* taken) const { core()->release(taken); }
};
using Taken = std::unique_ptr<verbs_core_object, Release>;

// Null with a JavaScript exception pending if the argument is no open object of that kind.
inline Taken take(napi_env env, napi_value value, verbs_core_kind kind) {
  return Taken(core()->take(env, value, kind));
}
inline Taken take(const Arguments& arguments, std::size_t index, verbs_core_kind kind) {
  return take(arguments.env, arguments[index], kind);
}
template <typename T>
T* pointer(const Taken& taken) {
  return static_cast<T*>(core()->pointer(taken.get()));
}

}  // namespace verbs::provider
