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
napi_value obj_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const Bytes in = to_bytes(env, arguments[2]), out = to_bytes(env, arguments[3]);
  mlx5dv_devx_obj* object = created(context.library().mlx5dv_devx_obj_create, context.get(),
                                    static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data), out.size);
  return context.attach(env, object, destroy_object);
}

template <typename T>
using Command = int (*)(T*, const void*, std::size_t, void*, std::size_t);

template <typename T>
napi_value command(napi_env env, Command<T> function, T* object, napi_value in_value, napi_value out_value) {
  const Bytes in = to_bytes(env, in_value), out = to_bytes(env, out_value);
  return failure(env, status(function, object, static_cast<const void*>(in.data), in.size, static_cast<void*>(out.data),
                             out.size));
}

// devxGeneralCmd(library, context, in, out): 0 | -errno
napi_value general_cmd(const Arguments& arguments) {
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  return command(arguments.env, context.library().mlx5dv_devx_general_cmd, context.get(), arguments[2], arguments[3]);
}

// devxObjQuery(object, in, out), devxObjModify(object, in, out): 0 | -errno
template <Command<mlx5dv_devx_obj> Library::* Function>
napi_value on_object(const Arguments& arguments) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(arguments, 0);
  if (!object) return nullptr;
  return command(arguments.env, object->library().*Function, object->get(), arguments[1], arguments[2]);
}

// devxCqQuery(library, cq, in, out) and so on, for objects of the verbs: 0 | -errno
template <typename T, Command<T> Library::* Function>
napi_value on_verbs(const Arguments& arguments) {
  Subject<T> object(arguments);
  if (!object) return nullptr;
  return command(arguments.env, object.library().*Function, object.get(), arguments[2], arguments[3]);
}

// exportSizes(library): { varAttrsSize, devxUmemAttrsSize, devxObjAttrsSize } | -errno
napi_value export_sizes(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  if (!library->_mlx5dv_get_export_sizes) return failure(env, EOPNOTSUPP);
  newer::ExportSizes sizes{};
  library->_mlx5dv_get_export_sizes(&sizes, sizeof sizes);
  napi_value result = object(env);
  set(env, result, "varAttrsSize", number(env, sizes.var));
  set(env, result, "devxUmemAttrsSize", number(env, sizes.devx_umem));
  set(env, result, "devxObjAttrsSize", number(env, sizes.devx_obj));
  return result;
}

// devxObjExport(object, data): 0 | -errno; devxObjImport(library, context, data): handle | -errno. EINVAL for
// a `data` of another size than exportSizes() says.
napi_value obj_export(const Arguments& arguments) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(arguments, 0);
  if (!object) return nullptr;
  const napi_env env = arguments.env;
  void* data = nullptr;
  int error = export_bytes(env, object->library(), arguments[1], &newer::ExportSizes::devx_obj, &data);
  if (error == 0) error = status(object->library().mlx5dv_devx_obj_export, object->get(), data);
  return failure(env, error);
}
napi_value obj_import(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  void* data = nullptr;
  const int error = export_bytes(env, context.library(), arguments[2], &newer::ExportSizes::devx_obj, &data);
  if (error != 0) return failure(env, error);
  return context.attach(env, created(context.library().mlx5dv_devx_obj_import, context.get(), data), unimport_object);
}

// devxQueryEqn(library, context, vector): eqn | -errno
napi_value query_eqn(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  std::uint32_t eqn = 0;
  const int error = status(context.library().mlx5dv_devx_query_eqn, context.get(), to_u32(env, arguments[2]), &eqn);
  return error != 0 ? failure(env, error) : number(env, eqn);
}

}  // namespace

void init_devx(napi_env env, napi_value exports) {
  export_function<obj_create>(env, exports, "devxObjCreate");
  export_function<on_object<&Library::mlx5dv_devx_obj_query>>(env, exports, "devxObjQuery");
  export_function<on_object<&Library::mlx5dv_devx_obj_modify>>(env, exports, "devxObjModify");
  export_function<general_cmd>(env, exports, "devxGeneralCmd");
  export_function<export_sizes>(env, exports, "exportSizes");
  export_function<obj_export>(env, exports, "devxObjExport");
  export_function<obj_import>(env, exports, "devxObjImport");
  export_function<query_eqn>(env, exports, "devxQueryEqn");
  export_function<on_verbs<ibv_cq, &Library::mlx5dv_devx_cq_query>>(env, exports, "devxCqQuery");
  export_function<on_verbs<ibv_cq, &Library::mlx5dv_devx_cq_modify>>(env, exports, "devxCqModify");
  export_function<on_verbs<ibv_qp, &Library::mlx5dv_devx_qp_query>>(env, exports, "devxQpQuery");
  export_function<on_verbs<ibv_qp, &Library::mlx5dv_devx_qp_modify>>(env, exports, "devxQpModify");
  export_function<on_verbs<ibv_srq, &Library::mlx5dv_devx_srq_query>>(env, exports, "devxSrqQuery");
  export_function<on_verbs<ibv_srq, &Library::mlx5dv_devx_srq_modify>>(env, exports, "devxSrqModify");
  export_function<on_verbs<ibv_wq, &Library::mlx5dv_devx_wq_query>>(env, exports, "devxWqQuery");
  export_function<on_verbs<ibv_wq, &Library::mlx5dv_devx_wq_modify>>(env, exports, "devxWqModify");
  export_function<on_verbs<ibv_rwq_ind_table, &Library::mlx5dv_devx_ind_tbl_query>>(env, exports, "devxIndTblQuery");
  export_function<on_verbs<ibv_rwq_ind_table, &Library::mlx5dv_devx_ind_tbl_modify>>(env, exports, "devxIndTblModify");
}

namespace {

// Asynchronous DEVX commands, and events of DEVX objects.

// Reading must never wait for the kernel: JavaScript watches the descriptor.
void do_not_wait(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) static_cast<void>(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

// devxCreateCmdComp(library, context): { handle, fd } | -errno
napi_value create_cmd_comp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
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
napi_value obj_query_async(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(arguments, 0);
  auto* completions = object ? held.object<mlx5dv_devx_cmd_comp>(arguments, 4) : nullptr;
  if (!completions) return nullptr;
  if (completions->context() != object->context()) return failure(env, EINVAL);
  const Bytes in = to_bytes(env, arguments[1]);
  return failure(env,
                 status(object->library().mlx5dv_devx_obj_query_async, object->get(), static_cast<const void*>(in.data),
                        in.size, to_u64(env, arguments[2]), to_u64(env, arguments[3]), completions->get()));
}

// devxGetAsyncCmdComp(completions, out): wrId: bigint | -errno. `out` gets the response.
napi_value get_async_cmd_comp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* completions = held.object<mlx5dv_devx_cmd_comp>(arguments, 0);
  if (!completions) return nullptr;
  const Bytes out = to_bytes(env, arguments[1]);
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
napi_value create_event_channel(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const auto flags = static_cast<mlx5dv_devx_create_event_channel_flags>(to_u32(env, arguments[2]));
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
napi_value subscribe(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* channel = held.object<mlx5dv_devx_event_channel>(arguments, 0);
  if (!channel) return nullptr;
  mlx5dv_devx_obj* about = nullptr;
  if (!is_undefined(env, arguments[1])) {
    auto* object = held.object<mlx5dv_devx_obj>(arguments, 1);
    if (!object) return nullptr;
    if (object->context() != channel->context()) return failure(env, EINVAL);
    about = object->get();
  }
  std::vector<std::uint16_t> events(length_of(env, arguments[2]));
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    events[i] = static_cast<std::uint16_t>(to_u32(env, element(env, arguments[2], i)));
  }
  // The size is in bytes.
  const auto size = static_cast<std::uint16_t>(events.size() * sizeof events[0]);
  return failure(env, status(channel->library().mlx5dv_devx_subscribe_devx_event, channel->get(), about, size,
                             events.data(), to_u64(env, arguments[3])));
}

// devxSubscribeDevxEventFd(channel, fd, object | undefined, event): 0 | -errno
napi_value subscribe_fd(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* channel = held.object<mlx5dv_devx_event_channel>(arguments, 0);
  if (!channel) return nullptr;
  mlx5dv_devx_obj* about = nullptr;
  if (!is_undefined(env, arguments[2])) {
    auto* object = held.object<mlx5dv_devx_obj>(arguments, 2);
    if (!object) return nullptr;
    if (object->context() != channel->context()) return failure(env, EINVAL);
    about = object->get();
  }
  return failure(env, status(channel->library().mlx5dv_devx_subscribe_devx_event_fd, channel->get(),
                             static_cast<int>(to_integer(env, arguments[1])), about,
                             static_cast<std::uint16_t>(to_u32(env, arguments[3]))));
}

// devxGetEvent(channel, out): { cookie, size } | -errno. `out` gets the event's data, of `size` bytes.
napi_value get_event(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* channel = held.object<mlx5dv_devx_event_channel>(arguments, 0);
  if (!channel) return nullptr;
  const auto function = channel->library().mlx5dv_devx_get_event;
  if (!function) return failure(env, EOPNOTSUPP);
  const Bytes out = to_bytes(env, arguments[1]);
  constexpr std::size_t kHeader = sizeof(mlx5dv_devx_async_event_hdr);
  std::vector<std::uint64_t> response((kHeader + out.size + 7) / 8);
  auto* header = reinterpret_cast<mlx5dv_devx_async_event_hdr*>(response.data());
  errno = 0;
  const ssize_t size = function(channel->get(), header, kHeader + out.size);
  if (size < 0) return failure(env, errno == 0 ? EIO : errno);
  const std::size_t data = static_cast<std::size_t>(size) > kHeader ? static_cast<std::size_t>(size) - kHeader : 0;
  if (data != 0) std::memcpy(out.data, header->out_data, data);
  napi_value result = object(env);
  set(env, result, "cookie", big(env, header->cookie));
  set(env, result, "size", number(env, static_cast<double>(data)));
  return result;
}

}  // namespace

void init_devx_events(napi_env env, napi_value exports) {
  export_function<create_cmd_comp>(env, exports, "devxCreateCmdComp");
  export_function<obj_query_async>(env, exports, "devxObjQueryAsync");
  export_function<get_async_cmd_comp>(env, exports, "devxGetAsyncCmdComp");
  export_function<create_event_channel>(env, exports, "devxCreateEventChannel");
  export_function<subscribe>(env, exports, "devxSubscribeDevxEvent");
  export_function<subscribe_fd>(env, exports, "devxSubscribeDevxEventFd");
  export_function<get_event>(env, exports, "devxGetEvent");
}

}  // namespace verbs::mlx5::binding
