// Devices that the user space drives alone, through VFIO.
#include "binding/objects.h"
#include "provider/device_list.h"

namespace verbs::mlx5::binding {
namespace {

// openVfioDevice(library, libibverbs, pciName, flags): { handle, name } | -errno. The list has the one device that is
// asked for.
napi_value open_vfio_device(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  const auto symbol = [&](const char* name) { return core()->library_symbol(env, arguments[1], name, "IBVERBS_1.1"); };
  const auto open = reinterpret_cast<ibv_context* (*)(ibv_device*)>(symbol("ibv_open_device"));
  const auto free_list = reinterpret_cast<void (*)(ibv_device**)>(symbol("ibv_free_device_list"));
  if (exception_pending(env)) return nullptr;
  if (!open || !free_list) return failure(env, EOPNOTSUPP);
  const std::string pci_name = to_string(env, arguments[2]);
  mlx5dv_vfio_context_attr attr{};
  attr.pci_name = pci_name.c_str();
  attr.flags = to_u32(env, arguments[3]);
  ibv_device** list = created(library->mlx5dv_get_vfio_device_list, &attr);
  if (!list) return failure(env, errno);
  errno = 0;
  ibv_context* context = list[0] ? open(list[0]) : nullptr;
  const int error = errno == 0 ? ENODEV : errno;
  const std::string name = list[0] ? list[0]->name : "";
  free_list(list);
  if (!context) return failure(env, error);
  return described(env, core()->adopt_context(env, arguments[1], context), {{"name", text(env, name)}});
}

// vfioGetEventsFd(library, context): fd | -errno
napi_value get_events_fd(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  if (!context.library().mlx5dv_vfio_get_events_fd) return failure(env, EOPNOTSUPP);
  errno = 0;
  const int fd = context.library().mlx5dv_vfio_get_events_fd(context.get());
  // A descriptor or a negative errno.
  return fd < 0 ? failure(env, errno != 0 ? errno : -fd) : number(env, fd);
}

// vfioProcessEvents(library, context): 0 | -errno
napi_value process_events(const Arguments& arguments) {
  Subject<ibv_context> context(arguments);
  return context ? failure(arguments.env, status(context.library().mlx5dv_vfio_process_events, context.get()))
                 : nullptr;
}

}  // namespace

void init_vfio(napi_env env, napi_value exports) {
  export_function<open_vfio_device>(env, exports, "openVfioDevice");
  export_function<get_events_fd>(env, exports, "vfioGetEventsFd");
  export_function<process_events>(env, exports, "vfioProcessEvents");
}

}  // namespace verbs::mlx5::binding
