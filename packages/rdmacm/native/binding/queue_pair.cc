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
Napi::Value create_qp(const Napi::CallbackInfo& info) {
  const auto id = take<Id>(info, 0);
  const verbs_core_qp_maker maker{.make = make_qp, .destroy = destroy_qp, .data = id.get(), .parent = id.object()};
  const verbs_core_object* outer = std::exchange(creating, id.object());
  const napi_value result = core()->create_qp_by(info.Env(), arguments_from(info, 1).data(), &maker);
  creating = outer;
  return checked(info.Env(), result);
}

// initQpAttr(id, qpState): { attr, mask } | -errno
Napi::Value init_qp_attr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto id = take<Id>(info, 0);
  if (!id->library().rdma_init_qp_attr) return failure(env, EOPNOTSUPP);
  Filled<ibv_qp_attr> attr;
  int mask = 0;
  attr->qp_state = number_of<ibv_qp_state>(info[1]);
  errno = 0;
  const int error = attr.after(error_of(id->library().rdma_init_qp_attr(id->get(), attr.get(), &mask)));
  if (error != 0) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("attr", checked(env, core()->write_qp_attr(env, attr.get())));
  result.Set("mask", mask);
  return result;
}

}  // namespace

void init_queue_pair(Napi::Object exports) {
  export_function<create_qp>(exports, "createQp");
  export_function<init_qp_attr>(exports, "initQpAttr");
}

}  // namespace verbs::rdmacm::binding
