// What the model does not have.
#include <cerrno>
#include <type_traits>

#include "model/abi/functions.h"

namespace {

// A null pointer or -1 with errno, or errno itself, as the function's kind of result asks.
template <typename Result>
Result refuse() {
  errno = EOPNOTSUPP;
  if constexpr (std::is_pointer_v<Result>) return nullptr;
  if constexpr (std::is_same_v<Result, ssize_t>) return -1;
  if constexpr (std::is_same_v<Result, int>) return EOPNOTSUPP;
}

}  // namespace

#pragma GCC diagnostic ignored "-Wunused-parameter"

extern "C" {

#define MLX5DV_REFUSE(result, name, parameters, arguments) \
  result name parameters { return refuse<result>(); }
MLX5DV_UNMODELLED_FUNCTIONS(MLX5DV_REFUSE)
#undef MLX5DV_REFUSE

#define MLX5DV_REFUSE(result, name, parameters, arguments) \
  result name parameters { return static_cast<result>(refuse<ssize_t>()); }
MLX5DV_UNMODELLED_DESCRIPTOR_FUNCTIONS(MLX5DV_REFUSE)
#undef MLX5DV_REFUSE

}  // extern "C"
