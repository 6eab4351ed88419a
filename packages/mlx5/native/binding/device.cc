// Devices, ports and the device's clock.
#include <array>

#include "binding/objects.h"
#include "provider/device_list.h"
#include "provider/exchange.h"

namespace verbs::mlx5::binding {
namespace {

// isSupported(library, libibverbs, name): boolean
napi_value is_supported(const Arguments& arguments) {
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  const DeviceList list(arguments.env, arguments[1]);
  if (exception_pending(arguments.env)) return nullptr;
  ibv_device* device = list.find(to_string(arguments.env, arguments[2]));
  return boolean(arguments.env, device && library->mlx5dv_is_supported(device));
}

// isMlx5(library, context): boolean
napi_value is_mlx5(const Arguments& arguments) {
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  return boolean(arguments.env, context.library().mlx5dv_is_supported(context.get()->device));
}

// openDevice(library, libibverbs, name, flags | undefined): handle | -errno
napi_value open_device(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  const DeviceList list(env, arguments[1]);
  if (exception_pending(env)) return nullptr;
  ibv_device* device = list.find(to_string(env, arguments[2]));
  if (!device) return failure(env, ENODEV);
  mlx5dv_context_attr attr{};
  attr.flags = to_u32(env, arguments[3]);
  ibv_context* context =
      created(library->mlx5dv_open_device, device, is_undefined(env, arguments[3]) ? nullptr : &attr);
  return context ? core()->adopt_context(env, arguments[1], context) : failure(env, errno);
}

napi_value write_capabilities(napi_env env, const mlx5dv_context& device) {
  const auto numbers = [&](std::initializer_list<std::pair<const char*, double>> fields) {
    napi_value result = object(env);
    for (const auto& [name, value] : fields) set(env, result, name, number(env, value));
    return result;
  };
  napi_value result = numbers({{"version", device.version},
                               {"tunnelOffloadsCaps", device.tunnel_offloads_caps},
                               {"maxDynamicBfregs", device.max_dynamic_bfregs},
                               {"flowActionFlags", device.flow_action_flags},
                               {"dcOdpCaps", device.dc_odp_caps},
                               {"numLagPorts", device.num_lag_ports},
                               {"maxWrMemcpyLength", static_cast<double>(device.max_wr_memcpy_length)}});
  set(env, result, "flags", big(env, device.flags));
  set(env, result, "compMask", big(env, device.comp_mask));
  set(env, result, "maxClockInfoUpdateNsec", big(env, device.max_clock_info_update_nsec));
  set(env, result, "cqeCompCaps",
      numbers({{"maxNum", device.cqe_comp_caps.max_num}, {"supportedFormat", device.cqe_comp_caps.supported_format}}));
  set(env, result, "swParsingCaps",
      numbers({{"swParsingOffloads", device.sw_parsing_caps.sw_parsing_offloads},
               {"supportedQpts", device.sw_parsing_caps.supported_qpts}}));
  const mlx5dv_striding_rq_caps& striding = device.striding_rq_caps;
  set(env, result, "stridingRqCaps",
      numbers({{"minSingleStrideLogNumOfBytes", striding.min_single_stride_log_num_of_bytes},
               {"maxSingleStrideLogNumOfBytes", striding.max_single_stride_log_num_of_bytes},
               {"minSingleWqeLogNumOfStrides", striding.min_single_wqe_log_num_of_strides},
               {"maxSingleWqeLogNumOfStrides", striding.max_single_wqe_log_num_of_strides},
               {"supportedQpts", striding.supported_qpts}}));
  napi_value signature = numbers({{"blockProt", device.sig_caps.block_prot},
                                  {"t10difBg", device.sig_caps.t10dif_bg},
                                  {"crcType", device.sig_caps.crc_type}});
  set(env, signature, "blockSize", big(env, device.sig_caps.block_size));
  set(env, result, "sigCaps", signature);
  set(env, result, "dciStreamsCaps",
      numbers({{"maxLogNumConcurent", device.dci_streams_caps.max_log_num_concurent},
               {"maxLogNumErrored", device.dci_streams_caps.max_log_num_errored}}));
  set(env, result, "cryptoCaps",
      numbers({{"failedSelftests", device.crypto_caps.failed_selftests},
               {"cryptoEngines", device.crypto_caps.crypto_engines},
               {"wrappedImportMethod", device.crypto_caps.wrapped_import_method},
               {"logMaxNumDeks", device.crypto_caps.log_max_num_deks},
               {"flags", device.crypto_caps.flags}}));
  return result;
}

// queryDevice(library, context): { version, flags, compMask, … } | -errno. `compMask` names the fields that the device
// filled in.
napi_value query_device(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  Filled<mlx5dv_context> device;
  constexpr std::uint64_t kAll = (MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD << 1) - 1;
  device->comp_mask = kAll;
  if (const int error = device.after(status(context.library().mlx5dv_query_device, context.get(), device.get()))) {
    return failure(env, error);
  }
  return write_capabilities(env, *device);
}

// queryPort(library, context, portNum): { flags, vport, … } | -errno
napi_value query_port(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  Filled<mlx5dv_port> filled;
  if (const int error = filled.after(status(context.library()._mlx5dv_query_port, context.get(),
                                            to_u32(env, arguments[2]), filled.get(), sizeof *filled))) {
    return failure(env, error);
  }
  const mlx5dv_port& port = *filled;
  napi_value result = object(env);
  set(env, result, "flags", big(env, port.flags));
  set(env, result, "vport", number(env, port.vport));
  set(env, result, "vportVhcaId", number(env, port.vport_vhca_id));
  set(env, result, "eswOwnerVhcaId", number(env, port.esw_owner_vhca_id));
  set(env, result, "vportSteeringIcmRx", big(env, port.vport_steering_icm_rx));
  set(env, result, "vportSteeringIcmTx", big(env, port.vport_steering_icm_tx));
  set(env, result, "regC0Value", number(env, port.reg_c0.value));
  set(env, result, "regC0Mask", number(env, port.reg_c0.mask));
  return result;
}

// getClockInfo(library, context): { nsec, lastCycles, frac, mult, shift, mask } | -errno
napi_value get_clock_info(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  Filled<mlx5dv_clock_info> filled;
  if (const int error = filled.after(status(context.library().mlx5dv_get_clock_info, context.get(), filled.get()))) {
    return failure(env, error);
  }
  const mlx5dv_clock_info& clock = *filled;
  napi_value result = object(env);
  set(env, result, "nsec", big(env, clock.nsec));
  set(env, result, "lastCycles", big(env, clock.last_cycles));
  set(env, result, "frac", big(env, clock.frac));
  set(env, result, "mult", number(env, clock.mult));
  set(env, result, "shift", number(env, clock.shift));
  set(env, result, "mask", big(env, clock.mask));
  return result;
}

// reservedQpnAlloc(library, context): qpn | -errno; reservedQpnDealloc(library, context, qpn): 0 | -errno
napi_value reserved_qpn_alloc(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  std::uint32_t number_of_qp = 0;
  const int error = status(context.library().mlx5dv_reserved_qpn_alloc, context.get(), &number_of_qp);
  return error != 0 ? failure(env, error) : number(env, number_of_qp);
}
napi_value reserved_qpn_dealloc(const Arguments& arguments) {
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  return failure(arguments.env, status(context.library().mlx5dv_reserved_qpn_dealloc, context.get(),
                                       to_u32(arguments.env, arguments[2])));
}

// getDataDirectSysfsPath(library, context): string | -errno
napi_value get_data_direct_sysfs_path(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  std::array<char, 4096> path{};
  const int error =
      status(context.library().mlx5dv_get_data_direct_sysfs_path, context.get(), path.data(), path.size() - 1);
  return error != 0 ? failure(env, error) : text(env, path.data());
}

}  // namespace

void init_device(napi_env env, napi_value exports) {
  export_function<is_supported>(env, exports, "isSupported");
  export_function<is_mlx5>(env, exports, "isMlx5");
  export_function<open_device>(env, exports, "openDevice");
  export_function<query_device>(env, exports, "queryDevice");
  export_function<query_port>(env, exports, "queryPort");
  export_function<get_clock_info>(env, exports, "getClockInfo");
  export_function<reserved_qpn_alloc>(env, exports, "reservedQpnAlloc");
  export_function<reserved_qpn_dealloc>(env, exports, "reservedQpnDealloc");
  export_function<get_data_direct_sysfs_path>(env, exports, "getDataDirectSysfsPath");
}

namespace {

// Devices that the user space drives alone, through VFIO.

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
