// All functions of libmlx5, and how the libmlx5.so.1 for foreign programs reaches the model.
#pragma once

#include <string.h>

// After string.h, which it uses.
#include <infiniband/mlx5dv.h>

#include "model/abi/modelled.h"
#include "model/abi/unmodelled.h"

// Newer headers make this of mlx5dv_create_flow(), with the size of the actions that they know: 16 bytes, or 24 with
// the offset of a counter.
extern "C" struct ibv_flow* __mlx5dv_create_flow(struct mlx5dv_flow_matcher* matcher,
                                                 struct mlx5dv_flow_match_parameters* match_value, size_t num_actions,
                                                 struct mlx5dv_flow_action_attr actions_attr[], size_t attr_len);

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
