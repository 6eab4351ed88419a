#include "context.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "../host/error.h"
#include "../host/registry.h"
#include "control_verbs.h"
#include "data_path.h"
#include "mr.h"
#include "qp_ex.h"
#include "query.h"
#include "slots.h"
#include "srq.h"

namespace verbs::soft::abi {

namespace {

void fill_ops(ibv_context* context) {
  ibv_context_ops& ops = context->ops;
  ops._compat_query_device = ibv_query_device;
  // Callers from before version 1.1 have the older, shorter structure, which is how our function of that name fills it.
  ops._compat_query_port = reinterpret_cast<decltype(ops._compat_query_port)>((ibv_query_port));
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = req_notify_cq;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
  ops.post_srq_recv = post_srq_recv;
  ops.bind_mw = bind_mw;
  ops.dealloc_mw = dealloc_mw;
}

void fill_verbs(verbs_context* verbs) {
  verbs->sz = sizeof *verbs;
  verbs->query_port = query_port;
  verbs->advise_mr = advise_mr;
  verbs->alloc_null_mr = alloc_null_mr;
  verbs->query_device_ex = query_device_ex;
  verbs->create_qp_ex = create_qp_ex;
  verbs->create_srq_ex = create_srq_ex;
  verbs->get_srq_num = get_srq_num;
  verbs->close_xrcd = close_xrcd;
}

int set_up(Context* context, ibv_device* device) {
  ibv_context* face = &context->verbs.context;
  face->cmd_fd = face->async_fd = -1;
  if (const int error = context->async.open()) return error;
  // Nothing is sent through cmd_fd; programs only expect it to be a descriptor of its own.
  face->cmd_fd = memfd_create("verbs-soft", MFD_CLOEXEC);
  if (face->cmd_fd < 0) return errno;
  face->device = device;
  face->async_fd = context->async.fd();
  face->num_comp_vectors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  face->abi_compat = __VERBS_ABI_IS_EXTENDED;
  pthread_mutex_init(&face->mutex, nullptr);
  fill_ops(face);
  fill_verbs(&context->verbs);
  context->control = kControlVerbs;
  return 0;
}

void tear_down(Context* context) {
  if (context->verbs.context.cmd_fd >= 0) close(context->verbs.context.cmd_fd);
  host::Registry::get().close(context->device, context->adapter);
  delete context;
}

const verbs_soft_model* model_of(const Context* context) { return context->device->model(); }

}  // namespace

ibv_context* open_context(ibv_device* device) {
  host::Device* known = host::Registry::get().find(device);
  const verbs_soft_model* its_model = known ? known->model() : nullptr;
  if (its_model && its_model->reopen_context) {
    if (ibv_context* again = its_model->reopen_context(its_model->data, device)) return again;
  }
  auto context = std::make_unique<Context>();
  if (const int error = host::Registry::get().open(device, &context->device, &context->adapter)) {
    return null_with<ibv_context>(error);
  }
  Context* opened = context.release();
  ibv_context* face = &opened->verbs.context;
  int error = set_up(opened, device);
  if (error != 0) host::fail(error, "a context needs two more file descriptors");
  const verbs_soft_model* model = model_of(opened);
  if (error == 0 && model && model->open_context) {
    error = model->open_context(model->data, face);
    if (error != 0) host::fail(error, std::string("the model of kind ") + model->kind + " refuses the context");
  }
  if (error != 0) {
    tear_down(opened);
    return null_with<ibv_context>(error);
  }
  opened->adapter->add_listener(&opened->async);
  return face;
}

int close_context(ibv_context* face) {
  Context* context = of(face);
  const verbs_soft_model* model = model_of(context);
  if (model && model->keep_context && model->keep_context(model->data, face)) return 0;
  if (model && model->close_context) model->close_context(model->data, face);
  // In a forked child the objects are the parent's: only the context's own memory and descriptors go.
  if (!context->adapter->inherited()) {
    context->handles.destroy_all();
    context->adapter->remove_listener(&context->async);
  }
  pthread_mutex_destroy(&face->mutex);
  tear_down(context);
  return 0;
}

}  // namespace verbs::soft::abi
