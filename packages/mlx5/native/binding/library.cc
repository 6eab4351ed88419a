#include "library.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

namespace verbs::mlx5 {
namespace {

constexpr napi_type_tag kLibraryTag = {0xb3417c8e92d6405full, 0x86e15fa0d73b294cull};

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
  library.kind = dlsym(handle, "verbs_soft_model_load") ? VERBS_CORE_SOFT : VERBS_CORE_SYSTEM;
#define MLX5DV_FIND(function, ...) \
  library.function = reinterpret_cast<decltype(library.function)>(dlsym(handle, #function));
  MLX5DV_FUNCTIONS(MLX5DV_FIND)
  MLX5DV_NEWER_FUNCTIONS(MLX5DV_FIND)
#undef MLX5DV_FIND
  if (!library.mlx5dv_is_supported) {
    *reason = name + " has no mlx5dv_is_supported: it is older than rdma-core 22, or no libmlx5";
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
    set(env, result, "reason", text(env, reason));
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

// missing(library, function): undefined if the library has it or it is none of those that are looked up; else the
// release of rdma-core that it came with, "" where that is not known.
napi_value missing(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  const std::string name = to_string(env, arguments[1]);
  const char* release = nullptr;
#define MLX5DV_MISSING(function, since) \
  if (name == #function && !library->function) release = #since;
  MLX5DV_FUNCTIONS(MLX5DV_MISSING)
#undef MLX5DV_MISSING
#define MLX5DV_MISSING(function, since, ...) \
  if (name == #function && !library->function) release = since;
  MLX5DV_NEWER_FUNCTIONS(MLX5DV_MISSING)
#undef MLX5DV_MISSING
  return release ? text(env, release) : undefined(env);
}

}  // namespace

const Library* library_of(const Arguments& arguments, std::size_t index) {
  void* library = nullptr;
  if (core() && tagged(arguments.env, arguments[index], kLibraryTag, &library)) return static_cast<Library*>(library);
  napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", "the native handle is not a libmlx5");
  return nullptr;
}

void init_library(napi_env env, napi_value exports) {
  export_function<set_up>(env, exports, "setUp");
  export_function<open_library>(env, exports, "openLibrary");
  export_function<attach_model>(env, exports, "attachModel");
  export_function<missing>(env, exports, "missing");
}

}  // namespace verbs::mlx5
