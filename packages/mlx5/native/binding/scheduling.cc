// Shares of the bandwidth: scheduling elements and packet pacing.
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// Fills in { parent?, flags, bwShare, maxAvgBw }. 0, an errno, or -1 with an exception pending.
int read_attr(napi_env env, napi_value given, const ibv_context* context, Held* held, mlx5dv_sched_attr* attr) {
  attr->flags = to_u32(env, get(env, given, "flags"));
  attr->bw_share = to_u32(env, get(env, given, "bwShare"));
  attr->max_avg_bw = to_u32(env, get(env, given, "maxAvgBw"));
  const napi_value parent = get(env, given, "parent");
  if (is_undefined(env, parent)) return 0;
  auto* node = held->object<mlx5dv_sched_node>(env, parent);
  if (!node) return -1;
  attr->parent = node->get();
  return node->context() == context ? 0 : EINVAL;
}

// schedNodeCreate(library, context, attr), schedLeafCreate(library, context, attr): handle | -errno
template <typename T, T* (*Library::*Create)(ibv_context*, const mlx5dv_sched_attr*), int (*Library::*Destroy)(T*)>
napi_value create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  mlx5dv_sched_attr attr{};
  if (const int error = read_attr(env, arguments[2], context.get(), &context.held, &attr)) {
    return error < 0 ? nullptr : failure(env, error);
  }
  const auto destroy = [](const Library& its_library, T* element) { return status(its_library.*Destroy, element); };
  return context.attach(env,
                        created(context.library().*Create, context.get(), static_cast<const mlx5dv_sched_attr*>(&attr)),
                        static_cast<typename Object<T>::Destroy>(destroy));
}

// schedNodeModify(node, attr), schedLeafModify(leaf, attr): 0 | -errno. A parent is the one that it has.
template <typename T, int (*Library::*Modify)(T*, const mlx5dv_sched_attr*)>
napi_value modify(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* scheduled = held.object<T>(arguments, 0);
  if (!scheduled) return nullptr;
  mlx5dv_sched_attr attr{};
  if (const int error = read_attr(env, arguments[1], scheduled->context(), &held, &attr)) {
    return error < 0 ? nullptr : failure(env, error);
  }
  return failure(env,
                 status(scheduled->library().*Modify, scheduled->get(), static_cast<const mlx5dv_sched_attr*>(&attr)));
}

// modifyQpSchedElem(library, qp, requestor | undefined, responder | undefined): 0 | -errno
napi_value modify_qp_sched_elem(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_qp> qp(arguments);
  if (!qp) return nullptr;
  const mlx5dv_sched_leaf* leaves[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_undefined(env, arguments[2 + i])) continue;
    auto* leaf = qp.held.object<mlx5dv_sched_leaf>(arguments, 2 + i);
    if (!leaf) return nullptr;
    if (leaf->context() != qp.get()->context) return failure(env, EINVAL);
    leaves[i] = leaf->get();
  }
  return failure(env, status(qp.library().mlx5dv_modify_qp_sched_elem, qp.get(), leaves[0], leaves[1]));
}

// ppAlloc(library, context, ppContext, flags): { handle, index } | -errno
napi_value pp_alloc(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const Bytes bytes = to_bytes(env, arguments[2]);
  mlx5dv_pp* pacing = created(context.library().mlx5dv_pp_alloc, context.get(), bytes.size,
                              static_cast<const void*>(bytes.data), to_u32(env, arguments[3]));
  if (!pacing) return failure(env, errno);
  const std::uint16_t index = pacing->index;
  const auto destroy = [](const Library& its_library, mlx5dv_pp* its_pacing) {
    its_library.mlx5dv_pp_free(its_pacing);
    return 0;
  };
  return described(env, context.attach(env, pacing, destroy), {{"index", number(env, index)}});
}

}  // namespace

void init_scheduling(napi_env env, napi_value exports) {
  export_function<create<mlx5dv_sched_node, &Library::mlx5dv_sched_node_create, &Library::mlx5dv_sched_node_destroy>>(
      env, exports, "schedNodeCreate");
  export_function<create<mlx5dv_sched_leaf, &Library::mlx5dv_sched_leaf_create, &Library::mlx5dv_sched_leaf_destroy>>(
      env, exports, "schedLeafCreate");
  export_function<modify<mlx5dv_sched_node, &Library::mlx5dv_sched_node_modify>>(env, exports, "schedNodeModify");
  export_function<modify<mlx5dv_sched_leaf, &Library::mlx5dv_sched_leaf_modify>>(env, exports, "schedLeafModify");
  export_function<modify_qp_sched_elem>(env, exports, "modifyQpSchedElem");
  export_function<pp_alloc>(env, exports, "ppAlloc");
}

}  // namespace verbs::mlx5::binding
