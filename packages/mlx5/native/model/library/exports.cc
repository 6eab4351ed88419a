// The functions of libmlx5, as C programs call them: no exception of the model leaves them, and the objects that they
// are given are live.
#include "model/abi/functions.h"
#include "model/device/device.h"
#include "verbs_soft_objects.h"

namespace model = verbs::mlx5::model;

extern "C" {

#define MLX5DV_EXPORT(result, name, parameters, arguments)                           \
  result name parameters {                                                           \
    const auto call = [&]() -> result { return model::name arguments; };             \
    return verbs::soft::model::verb(model::soft(), call, std::make_tuple arguments); \
  }
MLX5DV_MODELLED_FUNCTIONS(MLX5DV_EXPORT)
#undef MLX5DV_EXPORT

// These fail without looking at an argument.
#define MLX5DV_EXPORT(result, name, parameters, arguments) \
  result name parameters { return model::name arguments; }
MLX5DV_UNMODELLED_FUNCTIONS(MLX5DV_EXPORT)
MLX5DV_UNMODELLED_DESCRIPTOR_FUNCTIONS(MLX5DV_EXPORT)
#undef MLX5DV_EXPORT

int verbs_soft_mlx5(verbs_soft_extension_function extension, const Mlx5Functions** functions) {
#define MLX5DV_ENTRY(result, name, parameters, arguments) name,
  static constexpr Mlx5Functions kFunctions{MLX5DV_FUNCTIONS(MLX5DV_ENTRY)};
#undef MLX5DV_ENTRY
  *functions = &kFunctions;
  return verbs_soft_model_load(extension);
}

}  // extern "C"
