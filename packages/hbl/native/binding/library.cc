#include "library.h"

#include <dlfcn.h>

#include <cerrno>
#include <map>
#include <mutex>

namespace verbs::hbl {
namespace {

constexpr napi_type_tag kLibraryTag = {0x71f0c5a94e2d4b83ull, 0x9a6db02f35e81c47ull};

// Libraries stay loaded for ever, as do their entries here.
const Library* load(const std::string& name, std::string* reason) {
  static std::mutex mutex;
  static std::map<std::string, Library> loaded;
  const std::lock_guard guard(mutex);
  if (const auto found = loaded.find(name); found != loaded.end()) return &found->second;
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    *reason = dlerror();
    return nullptr;
  }
  Library library{};
  library.handle = handle;
  bool complete = true;
#define HBLDV_FIND(result, function, parameters, arguments)                                                  \
  library.function = reinterpret_cast<decltype(library.function)>(dlvsym(handle, #function, HBLDV_VERSION)); \
  complete &= library.function != nullptr;
  HBLDV_FUNCTIONS(HBLDV_FIND)
#undef HBLDV_FIND
  if (!complete) {
    *reason = name + " lacks functions of the version " + HBLDV_VERSION + ": it is not the expected libhbl";
    return nullptr;
  }
  return &loaded.emplace(name, library).first->second;
}

// openLibrary(name): { handle } | { reason }
napi_value open_library(const Arguments& arguments) {
  const napi_env env = arguments.env;
  std::string reason;
  const Library* library = load(to_string(env, arguments[0]), &reason);
  napi_value result = object(env);
  if (!library) {
    napi_value text = nullptr;
    napi_create_string_utf8(env, reason.c_str(), reason.size(), &text);
    set(env, result, "reason", text);
    return result;
  }
  napi_value external = nullptr;
  napi_create_external(env, const_cast<Library*>(library), nullptr, nullptr, &external);
  napi_type_tag_object(env, external, &kLibraryTag);
  set(env, result, "handle", external);
  return result;
}

// attachModel(library, libibverbs): 0 | -errno. The software NIC gets to know the model in that library.
napi_value attach_model(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  void* extension = core()->library_symbol(env, arguments[1], "verbs_soft_extension", nullptr);
  using Load = int (*)(void*);
  const auto attach = reinterpret_cast<Load>(dlsym(library->handle, "verbs_soft_model_load"));
  return failure(env, extension && attach ? attach(extension) : ENOSYS);
}

}  // namespace

const Library* library_of(const Arguments& arguments, std::size_t index) {
  void* library = nullptr;
  if (core() && tagged(arguments.env, arguments[index], kLibraryTag, &library)) return static_cast<Library*>(library);
  napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", "the native handle is not a libhbl");
  return nullptr;
}

void init_library(napi_env env, napi_value exports) {
  export_function<set_up>(env, exports, "setUp");
  export_function<open_library>(env, exports, "openLibrary");
  export_function<attach_model>(env, exports, "attachModel");
}

}  // namespace verbs::hbl
