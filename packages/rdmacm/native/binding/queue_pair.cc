// Queue pairs of identifiers.
#include <cerrno>
#include <utility>

#include "binding/id.h"
#include "provider/exchange.h"

namespace verbs::rdmacm::binding {
namespace {

// The identifier of the createQp call that this thread is in: reading its arguments may close it, and call createQp
// again.
thread_local const verbs_core_object* creating = nullptr;

void* make_qp(void*, void* context, void* attr) {
  const auto* id = static_cast<Id*>(core()->pointer(creating));
  if (!id) {
    errno = EBADF;
    return nullptr;
  }
  // The queue pair's objects are of that context. An identifier that is not bound has none.
  if (id->get()->verbs != context) {
    errno = EINVAL;
    return nullptr;
  }
  if (id->library().rdma_create_qp_ex(id->get(), static_cast<ibv_qp_init_attr_ex*>(attr)) != 0) return nullptr;
  return id->get()->qp;
}

int destroy_qp(void* data, void*) {
  static_cast<Id*>(data)->destroy_qp();
  return 0;
}

// createQp(id, attr): as createQp of @verbs/core. The queue pair is a child of the identifier, too.
napi_value create_qp(const Arguments& arguments) {
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const verbs_core_qp_maker maker{.make = make_qp, .destroy = destroy_qp, .data = id, .parent = keep.get()};
  const verbs_core_object* outer = std::exchange(creating, keep.get());
  const napi_value result = core()->create_qp_by(arguments.env, arguments.from(1), &maker);
  creating = outer;
  return result;
}

// initQpAttr(id, qpState): { attr, mask } | -errno
napi_value init_qp_attr(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!id->library().rdma_init_qp_attr) return failure(env, EOPNOTSUPP);
  Filled<ibv_qp_attr> attr;
  int mask = 0;
  attr->qp_state = static_cast<ibv_qp_state>(to_u32(env, arguments[1]));
  errno = 0;
  const int error = attr.after(error_of(id->library().rdma_init_qp_attr(id->get(), attr.get(), &mask)));
  if (error != 0) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "attr", core()->write_qp_attr(env, attr.get()));
  set(env, result, "mask", number(env, mask));
  return result;
}

}  // namespace

void init_queue_pair(napi_env env, napi_value exports) {
  export_guarded<create_qp>(env, exports, "createQp");
  export_guarded<init_qp_attr>(env, exports, "initQpAttr");
}

}  // namespace verbs::rdmacm::binding
