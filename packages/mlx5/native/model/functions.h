// All functions of libmlx5, and how the libmlx5.so.1 for foreign programs reaches the model.
#pragma once

#include <string.h>

// After string.h, which it uses.
#include <infiniband/mlx5dv.h>

#include "functions_modelled.h"
#include "functions_unmodelled.h"

#define MLX5DV_FUNCTIONS(X)        \
  MLX5DV_DEVICE_FUNCTIONS(X)       \
  MLX5DV_FLOW_FUNCTIONS(X)         \
  MLX5DV_RULES_FUNCTIONS(X)        \
  MLX5DV_RULE_ACTIONS_FUNCTIONS(X) \
  MLX5DV_DEVX_FUNCTIONS(X)         \
  MLX5DV_UNMODELLED_FUNCTIONS(X)   \
  MLX5DV_UNMODELLED_DESCRIPTOR_FUNCTIONS(X)

#define MLX5DV_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct Mlx5Functions {
  MLX5DV_FUNCTIONS(MLX5DV_MEMBER)
};
#undef MLX5DV_MEMBER

extern "C" const Mlx5Functions* verbs_soft_mlx5();
