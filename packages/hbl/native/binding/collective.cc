// What only the Gaudi SDK's library has: queue pairs that move to another port, and the resources of collectives. On
// another library each call is EOPNOTSUPP.
#include <cerrno>
#include <memory>

#include "binding/library.h"
#include "provider/exchange.h"

namespace verbs::hbl::binding {
namespace {

// migrateQp(library, qp): 0 | -errno
Napi::Value migrate_qp(const Napi::CallbackInfo& info) {
  const Library& library = library_of(info, 0);
  const auto qp = take<ibv_qp>(info, 1);
  if (!library.hbldv_migrate_qp) return failure(info.Env(), EOPNOTSUPP);
  return failure(info.Env(), library.hbldv_migrate_qp(qp.get()));
}

// reserveCollQps(library, pd, { isScaleOut, portsMask }): { qpNum } | -errno
Napi::Value reserve_coll_qps(const Napi::CallbackInfo& info) {
  const Library& library = library_of(info, 0);
  const auto pd = take<ibv_pd>(info, 1);
  if (!library.hbldv_reserve_coll_qps) return failure(info.Env(), EOPNOTSUPP);
  const Fields given(info[2]);
  Given<hbldv_coll_qp_attr> attr;
  attr->is_scale_out = given.u32("isScaleOut") != 0;
  attr->ports_mask = given.u64("portsMask");
  Filled<hbldv_coll_qp> reserved;
  const int error = library.hbldv_reserve_coll_qps(pd.get(), attr.get(), reserved.get());
  if (reserved.after(error) != 0) return failure(info.Env(), reserved.after(error));
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("qpNum", reserved->qp_num);
  return result;
}

// reserveCollSchedResources(library, context): { type, id, size, paOffs, virtAddr }[] | -errno
Napi::Value reserve_coll_sched_resources(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto context = take<ibv_context>(info, 1);
  if (!library.hbldv_reserve_coll_sched_resources) return failure(env, EOPNOTSUPP);
  const auto filled = std::make_unique<Filled<hbldv_coll_sched_resources>>();
  const int error = library.hbldv_reserve_coll_sched_resources(context.get(), filled->get());
  if (filled->after(error) != 0) return failure(env, filled->after(error));
  const hbldv_coll_sched_resources* resources = &**filled;
  if (resources->num_resources < 0 || resources->num_resources > HBLDV_COLL_SCHED_RESOURCES_MAX) {
    return failure(env, EIO);
  }
  Napi::Array list = Napi::Array::New(env);
  for (int i = 0; i < resources->num_resources; ++i) {
    const hbldv_coll_sched_resource& resource = resources->resource[i];
    Napi::Object described = Napi::Object::New(env);
    described.Set("type", static_cast<std::uint32_t>(resource.type));
    described.Set("id", resource.id);
    described.Set("size", big(env, resource.size));
    described.Set("paOffs", resource.pa_offs);
    described.Set("virtAddr", big(env, reinterpret_cast<std::uintptr_t>(resource.virt_addr)));
    list.Set(static_cast<std::uint32_t>(i), described);
  }
  return list;
}

}  // namespace

void init_collective(Napi::Object exports) {
  export_function<migrate_qp>(exports, "migrateQp");
  export_function<reserve_coll_qps>(exports, "reserveCollQps");
  export_function<reserve_coll_sched_resources>(exports, "reserveCollSchedResources");
}

}  // namespace verbs::hbl::binding
