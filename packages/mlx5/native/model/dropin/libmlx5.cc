// libmlx5.so.1 for programs that know nothing of the software NIC: all functions of its header, handed on to the model.
// The model itself is one for the process, also when this package's addon uses it beside such a program.
#include <dlfcn.h>

#include "model/abi/functions.h"
#include "verbs_soft_extension.h"

namespace {

// The software NIC is the program's libibverbs, which may be no global symbols (Python loads its modules so).
verbs_soft_extension_function find_extension() {
  constexpr const char* kName = "verbs_soft_extension";
  void* found = dlsym(RTLD_DEFAULT, kName);
  if (!found) {
    if (void* libibverbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(libibverbs, kName);
  }
  return reinterpret_cast<verbs_soft_extension_function>(found);
}

// Without the software NIC no device is supported.
const Mlx5Functions& model() {
  static const Mlx5Functions* functions = [] {
    if (const auto extension = find_extension()) verbs_soft_model_load(extension);
    return verbs_soft_mlx5();
  }();
  return *functions;
}

// Before main(): the first device list of the program has the devices already.
[[gnu::constructor]] void attach() { model(); }

}  // namespace

extern "C" {

#define MLX5DV_FORWARD(result, name, parameters, arguments) \
  result name parameters { return model().name arguments; }
MLX5DV_FUNCTIONS(MLX5DV_FORWARD)
#undef MLX5DV_FORWARD

// What programs from before version 1.2 are linked with: the same, as the model fills no field of later versions.
int verbs_soft_init_obj_1_0(mlx5dv_obj* obj, uint64_t obj_type) { return model().mlx5dv_init_obj(obj, obj_type); }
__asm__(".symver verbs_soft_init_obj_1_0, mlx5dv_init_obj@MLX5_1.0");
__asm__(".symver mlx5dv_init_obj, mlx5dv_init_obj@@@MLX5_1.2");

// By this symbol a library is known as the software model's.
extern const char verbs_soft_marker[];
const char verbs_soft_marker[] = "verbs-soft-mlx5 1";

}  // extern "C"
