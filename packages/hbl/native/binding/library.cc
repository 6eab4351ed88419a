#include "binding/library.h"

#include <dlfcn.h>

#include "provider/libraries.h"

namespace verbs::hbl::binding {
namespace {

// A function by its version; the SDK's library need not have one.
template <typename Function>
bool find(void* library, const char* name, Function** function) {
  void* found = provider::versioned_symbol(library, name, HBLDV_VERSION);
  if (!found) found = dlsym(library, name);
  *function = reinterpret_cast<Function*>(found);
  return found != nullptr;
}

bool find_functions(const std::string& name, Library* library, std::string* reason) {
  bool complete = true;
#define HBLDV_FIND(result, function, parameters, arguments) \
  complete &= find(library->handle, #function, &library->function);
  HBLDV_FUNCTIONS(HBLDV_FIND)
#undef HBLDV_FIND
  find(library->handle, "hbldv_migrate_qp", &library->hbldv_migrate_qp);
  find(library->handle, "hbldv_reserve_coll_qps", &library->hbldv_reserve_coll_qps);
  find(library->handle, "hbldv_reserve_coll_sched_resources", &library->hbldv_reserve_coll_sched_resources);
  if (!complete) {
    *reason = name + " lacks functions of the first 13: it is no libhbl";
  }
  return complete;
}

Libraries<Library>& libraries() {
  static auto* all = new Libraries<Library>(0x71f0c5a94e2d4b83ull, "a libhbl", find_functions);
  return *all;
}

Napi::Value open_library(const Napi::CallbackInfo& info) { return libraries().open(info); }

// isSdk(library): whether it has the functions and the structures of the Gaudi SDK's
Napi::Value is_sdk(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), library_of(info, 0).is_sdk());
}

Napi::Value attach_model(const Napi::CallbackInfo& info) { return libraries().attach_model(info); }

}  // namespace

const Library& library_of(const Napi::CallbackInfo& info, std::size_t index) { return libraries().of(info, index); }

void init_library(Napi::Object exports) {
  export_function<set_up>(exports, "setUp");
  export_function<open_library>(exports, "openLibrary");
  export_function<is_sdk>(exports, "isSdk");
  export_function<attach_model>(exports, "attachModel");
}

}  // namespace verbs::hbl::binding
