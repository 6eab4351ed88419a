#include "binding/library.h"

#include <dlfcn.h>

#include <cerrno>

#include "provider/libraries.h"

namespace verbs::rdmacm::binding {
namespace {

bool find_functions(const std::string& name, Library* library, std::string* reason) {
#define RDMACM_FIND(function) \
  library->function = reinterpret_cast<decltype(library->function)>(dlsym(library->handle, #function));
  RDMACM_NEEDED(RDMACM_FIND)
  RDMACM_OPTIONAL(RDMACM_FIND)
#define RDMACM_FIND_NEWER(result, function, parameters) RDMACM_FIND(function)
  RDMACM_NEWER(RDMACM_FIND_NEWER)
#undef RDMACM_FIND_NEWER
#undef RDMACM_FIND
  bool complete = true;
#define RDMACM_THERE(function) complete &= library->function != nullptr;
  RDMACM_NEEDED(RDMACM_THERE)
#undef RDMACM_THERE
  if (!complete) *reason = name + " lacks functions: it is not the expected librdmacm";
  return complete;
}

Libraries<Library>& libraries() {
  static auto* all =
      new Libraries<Library>({0x4be90c5d1f7a4263ull, 0x8d20f6e1b35a97c4ull}, "librdmacm", find_functions);
  return *all;
}

napi_value open_library(const Arguments& arguments) { return libraries().open(arguments); }
napi_value attach_model(const Arguments& arguments) { return libraries().attach_model(arguments); }

// eventStr(library, event): string
napi_value event_str(const Arguments& arguments) {
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  return text(arguments.env,
              library->rdma_event_str(static_cast<rdma_cm_event_type>(to_u32(arguments.env, arguments[1]))));
}

}  // namespace

const Library* library_of(const Arguments& arguments, std::size_t index) { return libraries().of(arguments, index); }

int error_of(int result) {
  if (result == 0) return 0;
  if (result > 0) return result;
  return errno == 0 ? EIO : errno;
}

void init_library(napi_env env, napi_value exports) {
  export_guarded<set_up>(env, exports, "setUp");
  export_guarded<open_library>(env, exports, "openLibrary");
  export_guarded<attach_model>(env, exports, "attachModel");
  export_guarded<event_str>(env, exports, "eventStr");
}

}  // namespace verbs::rdmacm::binding
