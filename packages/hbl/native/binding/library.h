// A loaded libhbl: its 13 functions, found by name and version. Nothing links it.
#pragma once

#include "hbldv.h"
#include "provider/core.h"

namespace verbs::hbl::binding {

using namespace verbs::provider;  // NOLINT(google-build-using-namespace): values, and the objects of @verbs/core

#define HBLDV_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct Library {
  void* handle;
  HBLDV_FUNCTIONS(HBLDV_MEMBER)
};
#undef HBLDV_MEMBER

// Null with a TypeError pending for anything that is no handle of a library.
const Library* library_of(const Arguments& arguments, std::size_t index);

void init_library(napi_env env, napi_value exports);
void init_device(napi_env env, napi_value exports);
void init_encap(napi_env env, napi_value exports);
void init_usr_fifo(napi_env env, napi_value exports);
void init_queues(napi_env env, napi_value exports);

}  // namespace verbs::hbl::binding
