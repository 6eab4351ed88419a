// DEVX objects and commands, also commands on objects of the verbs.
#include <fcntl.h>

#include <cstring>

#include "binding/devx/export_bytes.h"
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

int destroy_object(const Library& library, mlx5dv_devx_obj* object) {
  return status(library.mlx5dv_devx_obj_destroy, object);
}
int unimport_object(const Library& library, mlx5dv_devx_obj* object) {
  library.mlx5dv_devx_obj_unimport(object);
  return 0;
}

// devxObjCreate(library, context, in, out): handle | -errno. `out` is filled in, also by a command that failed.
Napi::Value obj_create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const Bytes in = bytes_of(info[2]), out = bytes_of(info[3]);
  mlx5dv_devx_obj* object = created(context.library().mlx5dv_devx_obj_create, context.get(),
                                    static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data), out.size);
  return context.attach(env, object, destroy_object);
}

template <typename T>
using Command = int (*)(T*, const void*, std::size_t, void*, std::size_t);

template <typename T>
Napi::Value command(Napi::Env env, Command<T> function, T* object, Napi::Value in_value, Napi::Value out_value) {
  const Bytes in = bytes_of(in_value), out = bytes_of(out_value);
  return failure(env, status(function, object, static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data),
                             out.size));
}

// devxGeneralCmd(library, context, in, out): 0 | -errno
Napi::Value general_cmd(const Napi::CallbackInfo& info) {
  Subject<ibv_context> context(info);
  return command(info.Env(), context.library().mlx5dv_devx_general_cmd, context.get(), info[2], info[3]);
}

// devxObjQuery(object, in, out), devxObjModify(object, in, out): 0 | -errno
template <Command<mlx5dv_devx_obj> Library::* Function>
Napi::Value on_object(const Napi::CallbackInfo& info) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(info, 0);
  return command(info.Env(), object->library().*Function, object->get(), info[1], info[2]);
}

// devxCqQuery(library, cq, in, out) and so on, for objects of the verbs: 0 | -errno
template <typename T, Command<T> Library::* Function>
Napi::Value on_verbs(const Napi::CallbackInfo& info) {
  Subject<T> object(info);
  return command(info.Env(), object.library().*Function, object.get(), info[2], info[3]);
}

// exportSizes(library): { varAttrsSize, devxUmemAttrsSize, devxObjAttrsSize } | -errno
Napi::Value export_sizes(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  if (!library._mlx5dv_get_export_sizes) return failure(env, EOPNOTSUPP);
  newer::ExportSizes sizes{};
  library._mlx5dv_get_export_sizes(&sizes, sizeof sizes);
  Napi::Object result = Napi::Object::New(env);
  result.Set("varAttrsSize", sizes.var);
  result.Set("devxUmemAttrsSize", sizes.devx_umem);
  result.Set("devxObjAttrsSize", sizes.devx_obj);
  return result;
}

// devxObjExport(object, data): 0 | -errno; devxObjImport(library, context, data): handle | -errno. EINVAL for
// a `data` of another size than exportSizes() says.
Napi::Value obj_export(const Napi::CallbackInfo& info) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(info, 0);
  const Napi::Env env = info.Env();
  void* data = nullptr;
  int error = export_bytes(object->library(), info[1], &newer::ExportSizes::devx_obj, &data);
  if (error == 0) error = status(object->library().mlx5dv_devx_obj_export, object->get(), data);
  return failure(env, error);
}
Napi::Value obj_import(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  void* data = nullptr;
  const int error = export_bytes(context.library(), info[2], &newer::ExportSizes::devx_obj, &data);
  if (error != 0) return failure(env, error);
  return context.attach(env, created(context.library().mlx5dv_devx_obj_import, context.get(), data), unimport_object);
}

// devxQueryEqn(library, context, vector): eqn | -errno
Napi::Value query_eqn(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  std::uint32_t eqn = 0;
  const int error =
      status(context.library().mlx5dv_devx_query_eqn, context.get(), number_of<std::uint32_t>(info[2]), &eqn);
  return error != 0 ? failure(env, error) : number(env, eqn);
}

}  // namespace

void init_devx(Napi::Object exports) {
  export_function<obj_create>(exports, "devxObjCreate");
  export_function<on_object<&Library::mlx5dv_devx_obj_query>>(exports, "devxObjQuery");
  export_function<on_object<&Library::mlx5dv_devx_obj_modify>>(exports, "devxObjModify");
  export_function<general_cmd>(exports, "devxGeneralCmd");
  export_function<export_sizes>(exports, "exportSizes");
  export_function<obj_export>(exports, "devxObjExport");
  export_function<obj_import>(exports, "devxObjImport");
  export_function<query_eqn>(exports, "devxQueryEqn");
  export_function<on_verbs<ibv_cq, &Library::mlx5dv_devx_cq_query>>(exports, "devxCqQuery");
  export_function<on_verbs<ibv_cq, &Library::mlx5dv_devx_cq_modify>>(exports, "devxCqModify");
  export_function<on_verbs<ibv_qp, &Library::mlx5dv_devx_qp_query>>(exports, "devxQpQuery");
  export_function<on_verbs<ibv_qp, &Library::mlx5dv_devx_qp_modify>>(exports, "devxQpModify");
  export_function<on_verbs<ibv_srq, &Library::mlx5dv_devx_srq_query>>(exports, "devxSrqQuery");
  export_function<on_verbs<ibv_srq, &Library::mlx5dv_devx_srq_modify>>(exports, "devxSrqModify");
  export_function<on_verbs<ibv_wq, &Library::mlx5dv_devx_wq_query>>(exports, "devxWqQuery");
  export_function<on_verbs<ibv_wq, &Library::mlx5dv_devx_wq_modify>>(exports, "devxWqModify");
  export_function<on_verbs<ibv_rwq_ind_table, &Library::mlx5dv_devx_ind_tbl_query>>(exports, "devxIndTblQuery");
  export_function<on_verbs<ibv_rwq_ind_table, &Library::mlx5dv_devx_ind_tbl_modify>>(exports, "devxIndTblModify");
}

namespace {

// Asynchronous DEVX commands, and events of DEVX objects.

// Reading must never wait for the kernel: JavaScript watches the descriptor.
void do_not_wait(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) static_cast<void>(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

// devxCreateCmdComp(library, context): { handle, fd } | -errno
Napi::Value create_cmd_comp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_devx_cmd_comp* completions = created(context.library().mlx5dv_devx_create_cmd_comp, context.get());
  if (!completions) return failure(env, errno);
  const int fd = completions->fd;
  do_not_wait(fd);
  const auto destroy = [](const Library& its_library, mlx5dv_devx_cmd_comp* its_completions) {
    its_library.mlx5dv_devx_destroy_cmd_comp(its_completions);
    return 0;
  };
  return described(env, context.attach(env, completions, destroy), {{"fd", number(env, fd)}});
}

// devxObjQueryAsync(object, in, outLength, wrId: bigint, completions): 0 | -errno
Napi::Value obj_query_async(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(info, 0);
  auto* completions = held.object<mlx5dv_devx_cmd_comp>(info, 4);
  if (completions->context() != object->context()) return failure(env, EINVAL);
  const Bytes in = bytes_of(info[1]);
  return failure(env,
                 status(object->library().mlx5dv_devx_obj_query_async, object->get(), static_cast<const void*>(in.data),
                        in.size, u64_of(info[2]), u64_of(info[3]), completions->get()));
}

// devxGetAsyncCmdComp(completions, out): wrId: bigint | -errno. `out` gets the response.
Napi::Value get_async_cmd_comp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* completions = held.object<mlx5dv_devx_cmd_comp>(info, 0);
  const Bytes out = bytes_of(info[1]);
  constexpr std::size_t kHeader = sizeof(mlx5dv_devx_async_cmd_hdr);
  std::vector<std::uint64_t> response((kHeader + out.size + 7) / 8);
  auto* header = reinterpret_cast<mlx5dv_devx_async_cmd_hdr*>(response.data());
  if (const int error = status(completions->library().mlx5dv_devx_get_async_cmd_comp, completions->get(), header,
                               kHeader + out.size)) {
    return failure(env, error);
  }
  if (out.size != 0) std::memcpy(out.data, header->out_data, out.size);
  return big(env, header->wr_id);
}

// devxCreateEventChannel(library, context, flags): { handle, fd } | -errno
Napi::Value create_event_channel(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const auto flags = number_of<mlx5dv_devx_create_event_channel_flags>(info[2]);
  mlx5dv_devx_event_channel* channel =
      created(context.library().mlx5dv_devx_create_event_channel, context.get(), flags);
  if (!channel) return failure(env, errno);
  const int fd = channel->fd;
  do_not_wait(fd);
  const auto destroy = [](const Library& its_library, mlx5dv_devx_event_channel* its_channel) {
    its_library.mlx5dv_devx_destroy_event_channel(its_channel);
    return 0;
  };
  return described(env, context.attach(env, channel, destroy), {{"fd", number(env, fd)}});
}

// devxSubscribeDevxEvent(channel, object | undefined, events: number[], cookie: bigint): 0 | -errno
Napi::Value subscribe(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* channel = held.object<mlx5dv_devx_event_channel>(info, 0);
  mlx5dv_devx_obj* about = nullptr;
  if (!info[1].IsUndefined()) {
    auto* object = held.object<mlx5dv_devx_obj>(info, 1);
    if (object->context() != channel->context()) return failure(env, EINVAL);
    about = object->get();
  }
  const Napi::Array list = list_of(info[2]);
  std::vector<std::uint16_t> events(list.Length());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    events[i] = number_of<std::uint16_t>(list.Get(i));
  }
  // The size is in bytes.
  const auto size = static_cast<std::uint16_t>(events.size() * sizeof events[0]);
  return failure(env, status(channel->library().mlx5dv_devx_subscribe_devx_event, channel->get(), about, size,
                             events.data(), u64_of(info[3])));
}

// devxSubscribeDevxEventFd(channel, fd, object | undefined, event): 0 | -errno
Napi::Value subscribe_fd(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* channel = held.object<mlx5dv_devx_event_channel>(info, 0);
  mlx5dv_devx_obj* about = nullptr;
  if (!info[2].IsUndefined()) {
    auto* object = held.object<mlx5dv_devx_obj>(info, 2);
    if (object->context() != channel->context()) return failure(env, EINVAL);
    about = object->get();
  }
  return failure(env, status(channel->library().mlx5dv_devx_subscribe_devx_event_fd, channel->get(),
                             number_of<int>(info[1]), about, number_of<std::uint16_t>(info[3])));
}

// devxGetEvent(channel, out): { cookie, size } | -errno. `out` gets the event's data, of `size` bytes.
Napi::Value get_event(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* channel = held.object<mlx5dv_devx_event_channel>(info, 0);
  const auto function = channel->library().mlx5dv_devx_get_event;
  if (!function) return failure(env, EOPNOTSUPP);
  const Bytes out = bytes_of(info[1]);
  constexpr std::size_t kHeader = sizeof(mlx5dv_devx_async_event_hdr);
  std::vector<std::uint64_t> response((kHeader + out.size + 7) / 8);
  auto* header = reinterpret_cast<mlx5dv_devx_async_event_hdr*>(response.data());
  errno = 0;
  const ssize_t size = function(channel->get(), header, kHeader + out.size);
  if (size < 0) return failure(env, errno == 0 ? EIO : errno);
  const std::size_t data = static_cast<std::size_t>(size) > kHeader ? static_cast<std::size_t>(size) - kHeader : 0;
  if (data != 0) std::memcpy(out.data, header->out_data, data);
  Napi::Object result = Napi::Object::New(env);
  result.Set("cookie", big(env, header->cookie));
  result.Set("size", static_cast<double>(data));
  return result;
}

}  // namespace

void init_devx_events(Napi::Object exports) {
  export_function<create_cmd_comp>(exports, "devxCreateCmdComp");
  export_function<obj_query_async>(exports, "devxObjQueryAsync");
  export_function<get_async_cmd_comp>(exports, "devxGetAsyncCmdComp");
  export_function<create_event_channel>(exports, "devxCreateEventChannel");
  export_function<subscribe>(exports, "devxSubscribeDevxEvent");
  export_function<subscribe_fd>(exports, "devxSubscribeDevxEventFd");
  export_function<get_event>(exports, "devxGetEvent");
}

}  // namespace verbs::mlx5::binding
