// Opening and closing contexts.
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "abi/device/query.h"
#include "abi/memory/device_memory.h"
#include "abi/memory/memory_region.h"
#include "abi/memory/protection_domain.h"
#include "abi/model/extension.h"
#include "abi/objects/objects.h"
#include "abi/queues/completion_queue.h"
#include "abi/queues/extended_posting.h"
#include "abi/queues/flow.h"
#include "abi/queues/posting.h"
#include "abi/queues/receive_queue.h"
#include "abi/queues/shared_receive.h"
#include "host/devices/registry.h"
#include "host/error.h"
#include "host/machine/machine.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::abi {

namespace {

// nullptr and errno if the device cannot be opened.
ibv_context* open_context(ibv_device* device);
int close_context(ibv_context* context);  // 0 or EINVAL

void fill_ops(ibv_context* context) {
  ibv_context_ops& ops = context->ops;
  ops._compat_query_device = ibv_query_device;
  // Callers before version 1.1 have an older, shorter structure; our ibv_query_port() fills only that.
  ops._compat_query_port = reinterpret_cast<decltype(ops._compat_query_port)>((ibv_query_port));
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = req_notify_cq;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
  ops.post_srq_recv = post_srq_recv;
  ops.alloc_mw = kGuarded<alloc_mw>;
  ops.bind_mw = kGuarded<bind_mw>;
  ops.dealloc_mw = kGuarded<dealloc_mw>;
}

void fill_verbs(verbs_context* verbs) {
  verbs->sz = later::kVerbsContextSize;
  verbs->query_port = kGuarded<query_port>;
  verbs->advise_mr = kGuarded<advise_mr>;
  verbs->alloc_null_mr = kGuarded<alloc_null_mr>;
  verbs->alloc_td = kGuarded<alloc_td>;
  verbs->dealloc_td = kGuarded<dealloc_td>;
  verbs->alloc_parent_domain = kGuarded<alloc_parent_domain>;
  verbs->alloc_dm = kGuarded<alloc_dm>;
  verbs->free_dm = kGuarded<free_dm>;
  verbs->reg_dm_mr = kGuarded<reg_dm_mr>;
  verbs->query_device_ex = kGuarded<query_device_ex>;
  verbs->query_rt_values = kGuarded<query_rt_values>;
  verbs->create_qp_ex = kGuarded<create_qp_ex>;
  verbs->create_cq_ex = kGuarded<create_cq_ex>;
  verbs->modify_cq = kGuarded<modify_cq>;
  verbs->create_srq_ex = kGuarded<create_srq_ex>;
  verbs->get_srq_num = kGuarded<get_srq_num>;
  verbs->post_srq_ops = post_srq_ops;
  verbs->open_xrcd = kGuarded<open_xrcd>;
  verbs->close_xrcd = kGuarded<close_xrcd>;
  verbs->open_qp = kGuarded<open_qp>;
  verbs->create_wq = kGuarded<create_wq>;
  verbs->modify_wq = kGuarded<modify_wq>;
  verbs->destroy_wq = kGuarded<destroy_wq>;
  verbs->create_rwq_ind_table = kGuarded<create_rwq_ind_table>;
  verbs->destroy_rwq_ind_table = kGuarded<destroy_rwq_ind_table>;
  verbs->ibv_create_flow = kGuarded<create_flow>;
  verbs->ibv_destroy_flow = kGuarded<destroy_flow>;
}

int set_up(Context* context, ibv_device* device) {
  ibv_context* ibv = &context->verbs.context;
  ibv->async_fd = -1;
  if (const int error = context->async.open()) return error;
  ibv->device = device;
  ibv->async_fd = context->async.fd();
  ibv->num_comp_vectors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
  fill_ops(ibv);
  fill_verbs(&context->verbs);
  context->control = kControlVerbs;
  return 0;
}

void close_command(Context* context) {
  int& fd = context->verbs.context.cmd_fd;
  if (fd >= 0) close(fd);
  fd = -1;
}

void tear_down(Context* context) {
  if (context->adapter) host::Registry::get().close(context->device, context->adapter);
  delete context;
}

// The end of a context, also of one that could not be opened.
void end(Context* context) {
  const bool inherited = context->adapter && context->adapter->core.inherited();
  remove_context(&context->verbs.context);
  if (context->adapter && !inherited) context->adapter->remove_context(&context->async);
  close_command(context);
  const std::shared_ptr<CommandFile> file = context->file;
  const std::vector<Context*> ended = file->close(context);
  if (ended.empty()) return;
  // In a forked child the objects belong to the parent: only the contexts' memory and descriptors are freed.
  if (!inherited) file->handles.destroy_all();
  for (Context* each : ended) {
    pthread_mutex_destroy(&each->verbs.context.mutex);
    tear_down(each);
  }
}

const verbs_soft_model* model_of(const Context* context) { return context->device->model(); }

int open_device(Context* context, int cmd_fd) {
  ibv_device* device = context->file->device();
  if (const int error = host::Registry::get().open(device, &context->device, &context->adapter)) return error;
  ibv_context* ibv = &context->verbs.context;
  add_context(ibv, context->handles);
  context->adapter->add_context(&context->async);
  if (const int error = set_up(context, device)) {
    return host::fail(error, "a context needs two more file descriptors");
  }
  ibv->cmd_fd = cmd_fd;
  const verbs_soft_model* model = model_of(context);
  const int error = model && model->open_context ? model->open_context(model->data, ibv) : 0;
  if (error != 0) host::fail(error, std::string("the model of kind ") + model->kind + " rejects the context");
  return error;
}

// Programs that were written for another libibverbs say that a device cannot be opened, and not why. This library
// stands in that one's place if it has its name: then it says so itself, once, on the standard error, where the user
// can do something about it: another owner of the address or of the capture's file, or a path that cannot be written.
bool is_for_user(int error) { return error == EADDRINUSE || error == EBUSY || error == ENOENT || error == EACCES; }

void tell_user(int error) {
  static std::atomic<bool> told{false};
  Dl_info place;
  if (!is_for_user(error) || dladdr(reinterpret_cast<void*>(&ibv_open_device), &place) == 0) return;
  const std::string_view path = place.dli_fname;
  if (!path.substr(path.rfind('/') + 1).starts_with("libibverbs.so")) return;
  if (std::getenv("VERBS_SOFT_QUIET") != nullptr || told.exchange(true)) return;
  std::fprintf(stderr, "verbs: %s\n", host::last_error().c_str());
}

// The descriptor stays the caller's if it fails.
ibv_context* open_context(std::shared_ptr<CommandFile> file, int cmd_fd) {
  auto made = std::make_unique<Context>(std::move(file));
  ibv_context* ibv = &made->verbs.context;
  ibv->cmd_fd = -1;
  pthread_mutex_init(&ibv->mutex, nullptr);
  made->file->open(made.get());
  Context* context = made.release();
  const int error = contain([&] { return open_device(context, cmd_fd); }, [](int failed) { return failed; });
  if (error == 0) return ibv;
  tell_user(error);
  ibv->cmd_fd = -1;
  end(context);
  return null_with<ibv_context>(error);
}

ibv_context* open_context(ibv_device* device) {
  host::Device* known = host::Registry::get().find(device);
  const verbs_soft_model* model = known ? known->model() : nullptr;
  if (model && model->reopen_context) {
    if (ibv_context* again = model->reopen_context(model->data, device)) return again;
  }
  std::shared_ptr<CommandFile> file;
  int fd = -1;
  if (const int error = CommandFile::create(device, &file, &fd)) {
    return null_with<ibv_context>(host::fail(error, "a context needs two more file descriptors"));
  }
  ibv_context* context = verb([&] { return open_context(std::move(file), fd); });
  if (!context) {
    const int error = errno;
    close(fd);
    errno = error;
  }
  return context;
}

// One more context of the command file of `cmd_fd`; it owns `cmd_fd` from then on.
ibv_context* import_context(int cmd_fd) {
  std::shared_ptr<CommandFile> file;
  if (const int error = CommandFile::find(cmd_fd, &file)) {
    const std::string what = "the descriptor " + std::to_string(cmd_fd) + " ";
    if (error == EOPNOTSUPP) host::fail(error, what + "is of a device that another process opened: open it here");
    if (error == EINVAL) host::fail(error, what + "is not the cmd_fd of a context, nor a copy of one");
    return null_with<ibv_context>(error);
  }
  return open_context(std::move(file), cmd_fd);
}

int close_context(ibv_context* ibv) {
  if (const int error = check(ibv)) return error;
  Context* context = of(ibv);
  const verbs_soft_model* model = model_of(context);
  if (model && model->keep_context && model->keep_context(model->data, ibv)) return 0;
  if (!begin_close(ibv)) return EINVAL;
  if (model && model->close_context) {
    // No call that the model has begun uses its data of the context any more.
    if (!context->adapter->core.inherited()) context->handles.wait_for_calls();
    model->close_context(model->data, ibv);
  }
  end(context);
  return 0;
}

}  // namespace

}  // namespace verbs::soft::abi

// ibv_get_device_list and its family.

using namespace verbs::soft;

namespace {

ibv_device** list_devices(int* num_devices) {
  if (num_devices) *num_devices = 0;
  host::note_use();
  std::vector<host::Device*> devices;
  if (const int error = host::Registry::get().list(verbs_soft_extension, &devices)) {
    return abi::null_with<ibv_device*>(error);
  }
  auto** list = static_cast<ibv_device**>(calloc(devices.size() + 1, sizeof(ibv_device*)));
  if (!list) return abi::null_with<ibv_device*>(ENOMEM);
  for (std::size_t i = 0; i < devices.size(); ++i) list[i] = devices[i]->ibv();
  if (num_devices) *num_devices = static_cast<int>(devices.size());
  return list;
}

}  // namespace

extern "C" {

#undef ibv_get_device_list
ibv_device** ibv_get_device_list(int* num_devices) {
  return verb([&] { return list_devices(num_devices); });
}

void ibv_free_device_list(ibv_device** list) { free(list); }

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

__be64 ibv_get_device_guid(ibv_device* device) {
  const host::Device* found = host::Registry::get().find(device);
  return found ? htobe64(found->guid()) : 0;
}

// The kernel's number of a device: our devices have none.
int ibv_get_device_index(ibv_device*) { return -1; }

ibv_context* ibv_open_device(ibv_device* device) {
  return verb([&] { return abi::open_context(device); });
}

int ibv_close_device(ibv_context* context) {
  return verb([&] { return abi::close_context(context); }) == 0 ? 0 : -1;
}

ibv_context* ibv_import_device(int cmd_fd) {
  return verb([&] { return abi::import_context(cmd_fd); });
}

}  // extern "C"

// Fork support. No memory is pinned or shared with hardware, so that a fork needs no preparation.

extern "C" {

int ibv_fork_init() { return 0; }
ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }

// Exported by libibverbs without a declaration.
int ibv_dontfork_range(void*, size_t) { return 0; }
int ibv_dofork_range(void*, size_t) { return 0; }

}  // extern "C"
