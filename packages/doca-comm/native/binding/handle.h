// The kinds of handles in JavaScript, and the results of the addon's functions.
#pragma once

#include <cstdint>
#include <memory>

#include "binding/library.h"
#include "provider/boundary.h"
#include "provider/handle.h"

namespace verbs::doca_comm::binding {

using namespace verbs::provider;  // NOLINT(google-build-using-namespace): the forms of every addon

class Device;
class Representor;
class Endpoint;
struct EngineHolder;
struct ContextHolder;
class Mmap;

inline constexpr Handles<Library> kLibraries{0x2f0d5c6f1a9b4e01ull, "a library of DOCA"};
inline constexpr Handles<Device> kDevices{0x2f0d5c6f1a9b4e02ull, "a device"};
inline constexpr Handles<Representor> kRepresentors{0x2f0d5c6f1a9b4e03ull, "a representor"};
inline constexpr Handles<Endpoint> kEndpoints{0x2f0d5c6f1a9b4e04ull, "an endpoint"};
inline constexpr Handles<EngineHolder> kEngines{0x2f0d5c6f1a9b4e05ull, "an engine"};
inline constexpr Handles<ContextHolder> kContexts{0x2f0d5c6f1a9b4e06ull, "a context"};
inline constexpr Handles<std::shared_ptr<Mmap>> kMmaps{0x2f0d5c6f1a9b4e07ull, "an mmap"};

// Results of calls: a number, or the negated DOCA error.
inline double result_of(doca_error_t error) { return error == DOCA_SUCCESS ? 0 : -static_cast<double>(error); }
inline Napi::Value failure(Napi::Env env, doca_error_t error) { return number(env, result_of(error)); }

// Thrown where a call cannot go on: its answer.
struct Refused {
  doca_error_t error;
};

template <PlainFunction F>
napi_value answered(napi_env env, napi_callback_info info) {
  try {
    return F(env, info);
  } catch (const Refused& refused) {
    return failure(env, refused.error);
  }
}

// As those of provider/boundary.h. A failed allocation is DOCA's error.
inline Napi::Value no_memory(Napi::Env env) { return failure(env, DOCA_ERROR_NO_MEMORY); }

template <PlainFunction F>
void export_plain(Napi::Object exports, const char* name) {
  provider::export_plain<answered<F>, no_memory>(exports, name);
}
template <Function F>
void export_function(Napi::Object exports, const char* name) {
  export_plain<plainly<F>>(exports, name);
}

}  // namespace verbs::doca_comm::binding
