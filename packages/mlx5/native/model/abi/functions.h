// All functions of libmlx5, and the table by which the drop-in libmlx5.so.1 calls the model.
#pragma once

#include <string.h>

// Uses string.h without including it.
#include <infiniband/mlx5dv.h>

#include "model/abi/modelled.h"
#include "model/abi/unmodelled.h"
#include "verbs_soft_extension.h"

// Newer headers define mlx5dv_create_flow() as a call of this function, with the size of their actions: 16 bytes, or 24
// with the offset of a counter.
extern "C" struct ibv_flow* __mlx5dv_create_flow(struct mlx5dv_flow_matcher* matcher,
                                                 struct mlx5dv_flow_match_parameters* match_value, size_t num_actions,
                                                 struct mlx5dv_flow_action_attr actions_attr[], size_t attr_len);

#define MLX5DV_MODELLED_FUNCTIONS(X) \
  MLX5DV_DEVICE_FUNCTIONS(X)         \
  MLX5DV_FLOW_FUNCTIONS(X)           \
  MLX5DV_RULES_FUNCTIONS(X)          \
  MLX5DV_RULE_ACTIONS_FUNCTIONS(X)   \
  MLX5DV_DEVX_FUNCTIONS(X)

#define MLX5DV_FUNCTIONS(X)      \
  MLX5DV_MODELLED_FUNCTIONS(X)   \
  MLX5DV_UNMODELLED_FUNCTIONS(X) \
  MLX5DV_UNMODELLED_DESCRIPTOR_FUNCTIONS(X)

#define MLX5DV_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct Mlx5Functions {
  MLX5DV_FUNCTIONS(MLX5DV_MEMBER)
};
#undef MLX5DV_MEMBER

// What the model does for each of them. It may throw.
namespace verbs::mlx5::model {
#define MLX5DV_DECLARE(result, name, parameters, arguments) result name parameters;
MLX5DV_FUNCTIONS(MLX5DV_DECLARE)
#undef MLX5DV_DECLARE
}  // namespace verbs::mlx5::model

// For the drop-in: gives it the table, and attaches the model as verbs_soft_model_load() does. A name of its own,
// because the libraries of all models are in the search order of a program that is linked with their drop-ins.
extern "C" int verbs_soft_mlx5(verbs_soft_extension_function extension, const Mlx5Functions** functions);
