// A loaded libmlx5. Nothing links it.
#pragma once

#include <infiniband/mlx5dv.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "binding/functions.h"
#include "provider/core.h"

// Newer headers have macros over the functions of longer structures; the table below needs the plain names.
#undef mlx5dv_create_flow
#undef ibv_query_port
#undef ibv_get_device_list
#undef ibv_reg_mr

namespace verbs::mlx5::binding {

using namespace verbs::provider;  // NOLINT(google-build-using-namespace): values, and the objects of @verbs/core

// Declarations that the header of rdma-core 44 lacks.
namespace newer {

// mlx5dv_flow_action_attr as __mlx5dv_create_flow walks it: longer than the structure that the plain mlx5dv_create_flow
// walks.
struct FlowActionAttr {
  std::uint32_t type;
  void* object;  // or the tag
  std::uint32_t offset;
};
static_assert(sizeof(FlowActionAttr) == 24);

struct ExportSizes {
  std::uint32_t var;
  std::uint32_t devx_umem;
  std::uint32_t devx_obj;
};

}  // namespace newer

struct Library {
  void* handle;
  verbs_core_library kind;
  // Bytes from one action to the next for mlx5dv_create_flow: 16, or 24 in the releases whose plain function walks the
  // longer structure.
  std::size_t flow_action_size;
#define MLX5DV_MEMBER(name, release) decltype(&::name) name;
  MLX5DV_FUNCTIONS(MLX5DV_MEMBER)
#undef MLX5DV_MEMBER
#define MLX5DV_MEMBER(name, release, result, parameters) result(*name) parameters;
  MLX5DV_NEWER_FUNCTIONS(MLX5DV_MEMBER)
#undef MLX5DV_MEMBER
};

// TypeError for anything that is no handle of a library.
const Library& library_of(const Napi::CallbackInfo& info, std::size_t index);

// The status of a function with an int result: 0 or a positive errno. A missing function is EOPNOTSUPP.
template <typename... Parameters, typename... Given>
int status(int (*function)(Parameters...), Given... given) {
  if (!function) return EOPNOTSUPP;
  errno = 0;
  const int result = function(given...);
  // By the manual the result is an errno; old versions returned it negated, or -1 with errno.
  return result == -1 && errno != 0 ? errno : std::abs(result);
}

// The result of a function that creates an object; null with errno set. A missing function is EOPNOTSUPP.
template <typename Result, typename... Parameters, typename... Given>
Result* created(Result* (*function)(Parameters...), Given... given) {
  errno = EOPNOTSUPP;
  if (!function) return nullptr;
  errno = 0;
  Result* result = function(given...);
  if (!result && errno == 0) errno = EIO;
  return result;
}

void init_library(Napi::Object exports);
void init_device(Napi::Object exports);
void init_flow(Napi::Object exports);
void init_flow_actions(Napi::Object exports);
void init_devx(Napi::Object exports);
void init_devx_memory(Napi::Object exports);
void init_devx_events(Napi::Object exports);
void init_dr(Napi::Object exports);
void init_dr_actions(Napi::Object exports);
void init_dr_meters(Napi::Object exports);
void init_queues(Napi::Object exports);
void init_queue_settings(Napi::Object exports);
void init_crypto(Napi::Object exports);
void init_scheduling(Napi::Object exports);
void init_vfio(Napi::Object exports);
void init_internals(Napi::Object exports);

}  // namespace verbs::mlx5::binding
