// What only the Gaudi SDK's library has: queue pairs that move to another port, and the resources of collectives. On
// another library each call is EOPNOTSUPP.
#include <cerrno>
#include <memory>

#include "binding/library.h"
#include "provider/exchange.h"

namespace verbs::hbl::binding {
namespace {

// migrateQp(library, qp): 0 | -errno
napi_value migrate_qp(const Arguments& arguments) {
  const Library* library = library_of(arguments, 0);
  const Taken qp = library ? take(arguments, 1, VERBS_CORE_QP) : nullptr;
  if (!qp) return nullptr;
  if (!library->hbldv_migrate_qp) return failure(arguments.env, EOPNOTSUPP);
  return failure(arguments.env, library->hbldv_migrate_qp(pointer<ibv_qp>(qp)));
}

// reserveCollQps(library, pd, { isScaleOut, portsMask }): { qpNum } | -errno
napi_value reserve_coll_qps(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken pd = library ? take(arguments, 1, VERBS_CORE_PD) : nullptr;
  if (!pd) return nullptr;
  if (!library->hbldv_reserve_coll_qps) return failure(env, EOPNOTSUPP);
  Given<hbldv_coll_qp_attr> attr;
  attr->is_scale_out = to_u32(env, get(env, arguments[2], "isScaleOut")) != 0;
  attr->ports_mask = to_u64(env, get(env, arguments[2], "portsMask"));
  Filled<hbldv_coll_qp> reserved;
  const int error = library->hbldv_reserve_coll_qps(pointer<ibv_pd>(pd), attr.get(), reserved.get());
  if (reserved.after(error) != 0) return failure(env, reserved.after(error));
  napi_value result = object(env);
  set(env, result, "qpNum", number(env, reserved->qp_num));
  return result;
}

// reserveCollSchedResources(library, context): { type, id, size, paOffs, virtAddr }[] | -errno
napi_value reserve_coll_sched_resources(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  if (!library->hbldv_reserve_coll_sched_resources) return failure(env, EOPNOTSUPP);
  const auto filled = std::make_unique<Filled<hbldv_coll_sched_resources>>();
  const int error = library->hbldv_reserve_coll_sched_resources(pointer<ibv_context>(context), filled->get());
  if (filled->after(error) != 0) return failure(env, filled->after(error));
  const hbldv_coll_sched_resources* resources = &**filled;
  if (resources->num_resources < 0 || resources->num_resources > HBLDV_COLL_SCHED_RESOURCES_MAX) {
    return failure(env, EIO);
  }
  napi_value list = nullptr;
  napi_create_array(env, &list);
  for (int i = 0; i < resources->num_resources; ++i) {
    const hbldv_coll_sched_resource& resource = resources->resource[i];
    napi_value described = object(env);
    set(env, described, "type", number(env, resource.type));
    set(env, described, "id", number(env, resource.id));
    set(env, described, "size", big(env, resource.size));
    set(env, described, "paOffs", number(env, resource.pa_offs));
    set(env, described, "virtAddr", big(env, reinterpret_cast<std::uintptr_t>(resource.virt_addr)));
    napi_set_element(env, list, static_cast<std::uint32_t>(i), described);
  }
  return list;
}

}  // namespace

void init_collective(napi_env env, napi_value exports) {
  export_function<migrate_qp>(env, exports, "migrateQp");
  export_function<reserve_coll_qps>(env, exports, "reserveCollQps");
  export_function<reserve_coll_sched_resources>(env, exports, "reserveCollSchedResources");
}

}  // namespace verbs::hbl::binding
