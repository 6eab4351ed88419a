// The functions of libmlx5, as C programs call them: no exception of the model leaves them.
#include "model/abi/functions.h"
#include "verbs_soft_boundary.h"

namespace model = verbs::mlx5::model;

extern "C" {

#define MLX5DV_EXPORT(result, name, parameters, arguments)                       \
  result name parameters {                                                       \
    return verbs::soft::verb([&]() -> result { return model::name arguments; }); \
  }
MLX5DV_FUNCTIONS(MLX5DV_EXPORT)
#undef MLX5DV_EXPORT

const Mlx5Functions* verbs_soft_mlx5() {
#define MLX5DV_ENTRY(result, name, parameters, arguments) name,
  static constexpr Mlx5Functions kFunctions{MLX5DV_FUNCTIONS(MLX5DV_ENTRY)};
#undef MLX5DV_ENTRY
  return &kFunctions;
}

}  // extern "C"
