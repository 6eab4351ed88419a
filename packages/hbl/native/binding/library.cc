#include "binding/library.h"

#include "provider/libraries.h"
#include "provider/versioned_symbol.h"

namespace verbs::hbl::binding {
namespace {

bool find_functions(const std::string& name, Library* library, std::string* reason) {
  bool complete = true;
#define HBLDV_FIND(result, function, parameters, arguments)                   \
  library->function = reinterpret_cast<decltype(library->function)>(          \
      provider::versioned_symbol(library->handle, #function, HBLDV_VERSION)); \
  complete &= library->function != nullptr;
  HBLDV_FUNCTIONS(HBLDV_FIND)
#undef HBLDV_FIND
  if (!complete) {
    *reason = name + " lacks functions of the version " + HBLDV_VERSION + ": it is not the expected libhbl";
  }
  return complete;
}

Libraries<Library>& libraries() {
  static auto* all = new Libraries<Library>({0x71f0c5a94e2d4b83ull, 0x9a6db02f35e81c47ull}, "libhbl", find_functions);
  return *all;
}

napi_value open_library(const Arguments& arguments) { return libraries().open(arguments); }
napi_value attach_model(const Arguments& arguments) { return libraries().attach_model(arguments); }

}  // namespace

const Library* library_of(const Arguments& arguments, std::size_t index) { return libraries().of(arguments, index); }

void init_library(napi_env env, napi_value exports) {
  export_function<set_up>(env, exports, "setUp");
  export_function<open_library>(env, exports, "openLibrary");
  export_function<attach_model>(env, exports, "attachModel");
}

}  // namespace verbs::hbl::binding
