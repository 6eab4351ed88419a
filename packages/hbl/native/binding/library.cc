#include "binding/library.h"

#include <dlfcn.h>

#include "provider/libraries.h"
#include "provider/versioned_symbol.h"

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
  static auto* all = new Libraries<Library>({0x71f0c5a94e2d4b83ull, 0x9a6db02f35e81c47ull}, "libhbl", find_functions);
  return *all;
}

napi_value open_library(const Arguments& arguments) { return libraries().open(arguments); }

// isSdk(library): whether it has the functions and the structures of the Gaudi SDK's
napi_value is_sdk(const Arguments& arguments) {
  const Library* library = libraries().of(arguments, 0);
  return library ? boolean(arguments.env, library->is_sdk()) : nullptr;
}

napi_value attach_model(const Arguments& arguments) { return libraries().attach_model(arguments); }

}  // namespace

const Library* library_of(const Arguments& arguments, std::size_t index) { return libraries().of(arguments, index); }

void init_library(napi_env env, napi_value exports) {
  export_function<set_up>(env, exports, "setUp");
  export_function<open_library>(env, exports, "openLibrary");
  export_function<is_sdk>(env, exports, "isSdk");
  export_function<attach_model>(env, exports, "attachModel");
}

}  // namespace verbs::hbl::binding
