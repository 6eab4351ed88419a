// The functions that the model does not implement.
#include <cerrno>
#include <type_traits>

#include "model/abi/functions.h"

namespace {

// Fails as functions of that result type fail: a null pointer or -1 with errno, or errno itself.
template <typename Result>
Result unsupported() {
  errno = EOPNOTSUPP;
  if constexpr (std::is_pointer_v<Result>) return nullptr;
  if constexpr (std::is_same_v<Result, ssize_t>) return -1;
  if constexpr (std::is_same_v<Result, int>) return EOPNOTSUPP;
}

}  // namespace

#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace verbs::mlx5::model {

#define MLX5DV_UNSUPPORTED(result, name, parameters, arguments) \
  result name parameters { return unsupported<result>(); }
MLX5DV_UNMODELLED_FUNCTIONS(MLX5DV_UNSUPPORTED)
#undef MLX5DV_UNSUPPORTED

#define MLX5DV_UNSUPPORTED(result, name, parameters, arguments) \
  result name parameters { return static_cast<result>(unsupported<ssize_t>()); }
MLX5DV_UNMODELLED_DESCRIPTOR_FUNCTIONS(MLX5DV_UNSUPPORTED)
#undef MLX5DV_UNSUPPORTED

}  // namespace verbs::mlx5::model
