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
  static auto* all = new Libraries<Library>(0x4be90c5d1f7a4263ull, "a librdmacm", find_functions);
  return *all;
}

Napi::Value open_library(const Napi::CallbackInfo& info) { return libraries().open(info); }
Napi::Value attach_model(const Napi::CallbackInfo& info) { return libraries().attach_model(info); }

// eventStr(library, event): string
Napi::Value event_str(const Napi::CallbackInfo& info) {
  const Library& library = library_of(info, 0);
  return text(info.Env(), library.rdma_event_str(number_of<rdma_cm_event_type>(info[1])));
}

}  // namespace

const Library& library_of(const Napi::CallbackInfo& info, std::size_t index) { return libraries().of(info, index); }

int error_of(int result) {
  if (result == 0) return 0;
  if (result > 0) return result;
  return errno == 0 ? EIO : errno;
}

void init_library(Napi::Object exports) {
  export_function<set_up>(exports, "setUp");
  export_function<open_library>(exports, "openLibrary");
  export_function<attach_model>(exports, "attachModel");
  export_function<event_str>(exports, "eventStr");
}

}  // namespace verbs::rdmacm::binding
