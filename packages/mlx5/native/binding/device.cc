// Devices, ports and the device's clock.
#include <array>

#include "binding/objects.h"
#include "provider/exchange.h"
#include "provider/libraries.h"

namespace verbs::mlx5::binding {
namespace {

// isSupported(library, libibverbs, name): boolean
Napi::Value is_supported(const Napi::CallbackInfo& info) {
  const Library& library = library_of(info, 0);
  const DeviceList list(info[1]);
  ibv_device* device = list.find(string_of(info[2]));
  return Napi::Boolean::New(info.Env(), device && library.mlx5dv_is_supported(device));
}

// isMlx5(library, context): boolean
Napi::Value is_mlx5(const Napi::CallbackInfo& info) {
  Subject<ibv_context> context(info);
  return Napi::Boolean::New(info.Env(), context.library().mlx5dv_is_supported(context.get()->device));
}

// openDevice(library, libibverbs, name, flags | undefined): handle | -errno
Napi::Value open_device(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const DeviceList list(info[1]);
  ibv_device* device = list.find(string_of(info[2]));
  if (!device) return failure(env, ENODEV);
  mlx5dv_context_attr attr{};
  attr.flags = number_of<std::uint32_t>(info[3]);
  ibv_context* context = created(library.mlx5dv_open_device, device, info[3].IsUndefined() ? nullptr : &attr);
  return context ? checked(env, core()->adopt_context(env, info[1], context)) : failure(env, errno);
}

Napi::Value write_capabilities(Napi::Env env, const mlx5dv_context& device) {
  const auto numbers = [&](std::initializer_list<std::pair<const char*, double>> fields) {
    Napi::Object result = Napi::Object::New(env);
    for (const auto& [name, value] : fields) result.Set(name, number(env, value));
    return result;
  };
  Napi::Object result = numbers({{"version", device.version},
                                 {"tunnelOffloadsCaps", device.tunnel_offloads_caps},
                                 {"maxDynamicBfregs", device.max_dynamic_bfregs},
                                 {"flowActionFlags", device.flow_action_flags},
                                 {"dcOdpCaps", device.dc_odp_caps},
                                 {"numLagPorts", device.num_lag_ports},
                                 {"maxWrMemcpyLength", static_cast<double>(device.max_wr_memcpy_length)}});
  result.Set("flags", big(env, device.flags));
  result.Set("compMask", big(env, device.comp_mask));
  result.Set("maxClockInfoUpdateNsec", big(env, device.max_clock_info_update_nsec));
  result.Set("cqeCompCaps", numbers({{"maxNum", device.cqe_comp_caps.max_num},
                                     {"supportedFormat", device.cqe_comp_caps.supported_format}}));
  result.Set("swParsingCaps", numbers({{"swParsingOffloads", device.sw_parsing_caps.sw_parsing_offloads},
                                       {"supportedQpts", device.sw_parsing_caps.supported_qpts}}));
  const mlx5dv_striding_rq_caps& striding = device.striding_rq_caps;
  result.Set("stridingRqCaps", numbers({{"minSingleStrideLogNumOfBytes", striding.min_single_stride_log_num_of_bytes},
                                        {"maxSingleStrideLogNumOfBytes", striding.max_single_stride_log_num_of_bytes},
                                        {"minSingleWqeLogNumOfStrides", striding.min_single_wqe_log_num_of_strides},
                                        {"maxSingleWqeLogNumOfStrides", striding.max_single_wqe_log_num_of_strides},
                                        {"supportedQpts", striding.supported_qpts}}));
  Napi::Object signature = numbers({{"blockProt", device.sig_caps.block_prot},
                                    {"t10difBg", device.sig_caps.t10dif_bg},
                                    {"crcType", device.sig_caps.crc_type}});
  signature.Set("blockSize", big(env, device.sig_caps.block_size));
  result.Set("sigCaps", signature);
  result.Set("dciStreamsCaps", numbers({{"maxLogNumConcurent", device.dci_streams_caps.max_log_num_concurent},
                                        {"maxLogNumErrored", device.dci_streams_caps.max_log_num_errored}}));
  result.Set("cryptoCaps", numbers({{"failedSelftests", device.crypto_caps.failed_selftests},
                                    {"cryptoEngines", device.crypto_caps.crypto_engines},
                                    {"wrappedImportMethod", device.crypto_caps.wrapped_import_method},
                                    {"logMaxNumDeks", device.crypto_caps.log_max_num_deks},
                                    {"flags", device.crypto_caps.flags}}));
  return result;
}

// queryDevice(library, context): { version, flags, compMask, … } | -errno. `compMask` names the fields that the device
// filled in.
Napi::Value query_device(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  Filled<mlx5dv_context> device;
  constexpr std::uint64_t kAll = (MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD << 1) - 1;
  device->comp_mask = kAll;
  if (const int error = device.after(status(context.library().mlx5dv_query_device, context.get(), device.get()))) {
    return failure(env, error);
  }
  return write_capabilities(env, *device);
}

// queryPort(library, context, portNum): { flags, vport, … } | -errno
Napi::Value query_port(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  Filled<mlx5dv_port> filled;
  if (const int error = filled.after(status(context.library()._mlx5dv_query_port, context.get(),
                                            number_of<std::uint32_t>(info[2]), filled.get(), sizeof *filled))) {
    return failure(env, error);
  }
  const mlx5dv_port& port = *filled;
  Napi::Object result = Napi::Object::New(env);
  result.Set("flags", big(env, port.flags));
  result.Set("vport", port.vport);
  result.Set("vportVhcaId", port.vport_vhca_id);
  result.Set("eswOwnerVhcaId", port.esw_owner_vhca_id);
  result.Set("vportSteeringIcmRx", big(env, port.vport_steering_icm_rx));
  result.Set("vportSteeringIcmTx", big(env, port.vport_steering_icm_tx));
  result.Set("regC0Value", port.reg_c0.value);
  result.Set("regC0Mask", port.reg_c0.mask);
  return result;
}

// getClockInfo(library, context): { nsec, lastCycles, frac, mult, shift, mask } | -errno
Napi::Value get_clock_info(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  Filled<mlx5dv_clock_info> filled;
  if (const int error = filled.after(status(context.library().mlx5dv_get_clock_info, context.get(), filled.get()))) {
    return failure(env, error);
  }
  const mlx5dv_clock_info& clock = *filled;
  Napi::Object result = Napi::Object::New(env);
  result.Set("nsec", big(env, clock.nsec));
  result.Set("lastCycles", big(env, clock.last_cycles));
  result.Set("frac", big(env, clock.frac));
  result.Set("mult", clock.mult);
  result.Set("shift", clock.shift);
  result.Set("mask", big(env, clock.mask));
  return result;
}

// reservedQpnAlloc(library, context): qpn | -errno; reservedQpnDealloc(library, context, qpn): 0 | -errno
Napi::Value reserved_qpn_alloc(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  std::uint32_t number_of_qp = 0;
  const int error = status(context.library().mlx5dv_reserved_qpn_alloc, context.get(), &number_of_qp);
  return error != 0 ? failure(env, error) : number(env, number_of_qp);
}
Napi::Value reserved_qpn_dealloc(const Napi::CallbackInfo& info) {
  Subject<ibv_context> context(info);
  return failure(info.Env(), status(context.library().mlx5dv_reserved_qpn_dealloc, context.get(),
                                    number_of<std::uint32_t>(info[2])));
}

// getDataDirectSysfsPath(library, context): string | -errno
Napi::Value get_data_direct_sysfs_path(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  std::array<char, 4096> path{};
  const int error =
      status(context.library().mlx5dv_get_data_direct_sysfs_path, context.get(), path.data(), path.size() - 1);
  return error != 0 ? failure(env, error) : text(env, path.data());
}

}  // namespace

void init_device(Napi::Object exports) {
  export_function<is_supported>(exports, "isSupported");
  export_function<is_mlx5>(exports, "isMlx5");
  export_function<open_device>(exports, "openDevice");
  export_function<query_device>(exports, "queryDevice");
  export_function<query_port>(exports, "queryPort");
  export_function<get_clock_info>(exports, "getClockInfo");
  export_function<reserved_qpn_alloc>(exports, "reservedQpnAlloc");
  export_function<reserved_qpn_dealloc>(exports, "reservedQpnDealloc");
  export_function<get_data_direct_sysfs_path>(exports, "getDataDirectSysfsPath");
}

namespace {

// Devices that the user space drives alone, through VFIO.

// openVfioDevice(library, libibverbs, pciName, flags): { handle, name } | -errno. The list has the one device that is
// asked for.
Napi::Value open_vfio_device(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto open = libibverbs_symbol<ibv_context* (*)(ibv_device*)>(info[1], "ibv_open_device", "IBVERBS_1.1");
  const auto free_list = libibverbs_symbol<void (*)(ibv_device**)>(info[1], "ibv_free_device_list", "IBVERBS_1.1");
  if (!open || !free_list) return failure(env, EOPNOTSUPP);
  const std::string pci_name = string_of(info[2]);
  mlx5dv_vfio_context_attr attr{};
  attr.pci_name = pci_name.c_str();
  attr.flags = number_of<std::uint32_t>(info[3]);
  ibv_device** list = created(library.mlx5dv_get_vfio_device_list, &attr);
  if (!list) return failure(env, errno);
  errno = 0;
  ibv_context* context = list[0] ? open(list[0]) : nullptr;
  const int error = errno == 0 ? ENODEV : errno;
  const std::string name = list[0] ? list[0]->name : "";
  free_list(list);
  if (!context) return failure(env, error);
  return described(env, checked(env, core()->adopt_context(env, info[1], context)), {{"name", text(env, name)}});
}

// vfioGetEventsFd(library, context): fd | -errno
Napi::Value get_events_fd(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  if (!context.library().mlx5dv_vfio_get_events_fd) return failure(env, EOPNOTSUPP);
  errno = 0;
  const int fd = context.library().mlx5dv_vfio_get_events_fd(context.get());
  // A descriptor or a negative errno.
  return fd < 0 ? failure(env, errno != 0 ? errno : -fd) : number(env, fd);
}

// vfioProcessEvents(library, context): 0 | -errno
Napi::Value process_events(const Napi::CallbackInfo& info) {
  Subject<ibv_context> context(info);
  return failure(info.Env(), status(context.library().mlx5dv_vfio_process_events, context.get()));
}

}  // namespace

void init_vfio(Napi::Object exports) {
  export_function<open_vfio_device>(exports, "openVfioDevice");
  export_function<get_events_fd>(exports, "vfioGetEventsFd");
  export_function<process_events>(exports, "vfioProcessEvents");
}

}  // namespace verbs::mlx5::binding
