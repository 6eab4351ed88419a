// libmlx5.so.1 for programs that do not know the software NIC: each function of its header forwards to the model. The
// model is one for the process; this package's addon uses the same one.
#include "model/abi/functions.h"
#include "verbs_soft_model.h"

namespace {

const Mlx5Functions& model() {
  static const Mlx5Functions* functions = verbs::soft::model::attached(verbs_soft_mlx5);
  return *functions;
}

// Before main(): the program's first device list includes the model's devices.
[[gnu::constructor]] void attach() { model(); }

}  // namespace

extern "C" {

#define MLX5DV_FORWARD(result, name, parameters, arguments) \
  result name parameters { return model().name arguments; }
MLX5DV_FUNCTIONS(MLX5DV_FORWARD)
#undef MLX5DV_FORWARD

// The version of this function for programs linked before 1.2. The model fills no field that 1.2 added.
int verbs_soft_init_obj_1_0(mlx5dv_obj* obj, uint64_t obj_type) { return model().mlx5dv_init_obj(obj, obj_type); }
__asm__(".symver verbs_soft_init_obj_1_0, mlx5dv_init_obj@MLX5_1.0");
__asm__(".symver mlx5dv_init_obj, mlx5dv_init_obj@@@MLX5_1.2");

}  // extern "C"

VERBS_SOFT_MARKER("mlx5")
