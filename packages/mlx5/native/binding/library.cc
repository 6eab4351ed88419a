#include "binding/library.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "provider/libraries.h"

namespace verbs::mlx5::binding {
namespace {

// Releases 60.0 to 62.0 made the structure longer without a new function; the next of each line have both functions
// again. No symbol tells them apart: the library's file does, libmlx5.so.1.25.61.0.
bool walks_longer_actions(void* library) {
  const std::string file = provider::loaded_file(library);
  const std::string name = file.substr(file.rfind('/') + 1);
  int interface = 0, age = 0, release = 0, patch = 0;
  if (std::sscanf(name.c_str(), "libmlx5.so.%d.%d.%d.%d", &interface, &age, &release, &patch) != 4) return false;
  return (release == 60 && patch < 2) || ((release == 61 || release == 62) && patch < 1);
}

bool find_functions(const std::string& name, Library* library, std::string* reason) {
  library->kind = dlsym(library->handle, "verbs_soft_model_load") ? VERBS_CORE_SOFT : VERBS_CORE_SYSTEM;
#define MLX5DV_FIND(function, ...) \
  library->function = reinterpret_cast<decltype(library->function)>(dlsym(library->handle, #function));
  MLX5DV_FUNCTIONS(MLX5DV_FIND)
  MLX5DV_NEWER_FUNCTIONS(MLX5DV_FIND)
#undef MLX5DV_FIND
  const bool longer = walks_longer_actions(library->handle);
  library->flow_action_size = longer ? sizeof(newer::FlowActionAttr) : offsetof(newer::FlowActionAttr, offset);
  if (!library->mlx5dv_is_supported) {
    *reason = name + " has no mlx5dv_is_supported: it is older than rdma-core 22, or no libmlx5";
  }
  return library->mlx5dv_is_supported != nullptr;
}

Libraries<Library>& libraries() {
  static auto* all = new Libraries<Library>(0xb3417c8e92d6405full, "a libmlx5", find_functions);
  return *all;
}

Napi::Value open_library(const Napi::CallbackInfo& info) { return libraries().open(info); }
Napi::Value attach_model(const Napi::CallbackInfo& info) { return libraries().attach_model(info); }

// missing(library, function): undefined if the library has it, or if it is not a function of this table; else the
// release of rdma-core that it came with.
Napi::Value missing(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const std::string name = string_of(info[1]);
  const char* release = nullptr;
#define MLX5DV_MISSING(function, since) \
  if (name == #function && !library.function) release = #since;
  MLX5DV_FUNCTIONS(MLX5DV_MISSING)
#undef MLX5DV_MISSING
#define MLX5DV_MISSING(function, since, ...) \
  if (name == #function && !library.function) release = since;
  MLX5DV_NEWER_FUNCTIONS(MLX5DV_MISSING)
#undef MLX5DV_MISSING
  return release ? text(env, release) : env.Undefined();
}

// flowActionSize(library): bytes of an action of the plain mlx5dv_create_flow
Napi::Value flow_action_size(const Napi::CallbackInfo& info) {
  return number(info.Env(), static_cast<double>(library_of(info, 0).flow_action_size));
}

}  // namespace

const Library& library_of(const Napi::CallbackInfo& info, std::size_t index) { return libraries().of(info, index); }

void init_library(Napi::Object exports) {
  export_function<set_up>(exports, "setUp");
  export_function<open_library>(exports, "openLibrary");
  export_function<attach_model>(exports, "attachModel");
  export_function<missing>(exports, "missing");
  export_function<flow_action_size>(exports, "flowActionSize");
}

}  // namespace verbs::mlx5::binding
