// Devices and ports.
#include <bit>
#include <cerrno>
#include <cstring>

#include "binding/library.h"
#include "provider/device_list.h"
#include "provider/exchange.h"

namespace verbs::hbl::binding {
namespace {

// isSupported(library, libibverbs, name): boolean
napi_value is_supported(const Arguments& arguments) {
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  const DeviceList list(arguments.env, arguments[1]);
  if (exception_pending(arguments.env)) return nullptr;
  ibv_device* device = list.find(to_string(arguments.env, arguments[2]));
  return boolean(arguments.env, device && library->hbldv_is_supported(device));
}

// openDevice(library, libibverbs, name, { portsMask, coreFd } | undefined): { handle, device } | -errno. `device` is
// the name of the device that the library has opened.
napi_value open_device(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  const DeviceList list(env, arguments[1]);
  if (exception_pending(env)) return nullptr;
  ibv_device* device = list.find(to_string(env, arguments[2]));
  if (!device) return failure(env, ENODEV);
  Given<hbldv_ucontext_attr> attr;
  const bool given = !is_undefined(env, arguments[3]);
  if (given) {
    attr->ports_mask = to_u64(env, get(env, arguments[3], "portsMask"));
    attr->core_fd = static_cast<int>(to_integer(env, get(env, arguments[3], "coreFd")));
  }
  errno = 0;
  ibv_context* context = library->hbldv_open_device(device, given ? attr.get() : nullptr);
  // The library leaves errno alone where the device has an unexpected name.
  if (!context) return failure(env, errno == 0 ? ENODEV : errno);
  const napi_value handle = core()->adopt_context(env, arguments[1], context);
  if (!handle) return nullptr;
  napi_value result = object(env);
  set(env, result, "handle", handle);
  set(env, result, "device", text(env, context->device->name));
  return result;
}

// queryDevice(library, context): { caps, portsMask, numPorts, extPortsMask? } | -errno. The library of 2024 tells no
// number of ports and no external ones. EPROTO: its structure is neither of the two.
napi_value query_device(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  const auto query = [&](auto& attr) {
    auto* plain = attr.template get<hbldv_device_attr>();
    return attr.after_exactly(library->hbldv_query_device(pointer<ibv_context>(context), plain));
  };
  const auto described = [&](std::uint64_t caps, std::uint64_t ports, std::uint32_t count) {
    napi_value result = object(env);
    set(env, result, "caps", big(env, caps));
    set(env, result, "portsMask", big(env, ports));
    set(env, result, "numPorts", number(env, count));
    return result;
  };
  if (library->is_sdk()) {
    Filled<hbldv_sdk_device_attr> attr;
    if (const int error = query(attr)) return failure(env, error);
    const napi_value result = described(attr->caps, attr->hw_ports_mask, attr->num_ports);
    set(env, result, "extPortsMask", big(env, attr->ext_ports_mask));
    return result;
  }
  Filled<hbldv_device_attr> attr;
  if (const int error = query(attr)) return failure(env, error);
  return described(attr->caps, attr->ports_mask, static_cast<std::uint32_t>(std::popcount(attr->ports_mask)));
}

hbldv_wq_array_attr to_wq_array(napi_env env, napi_value value) {
  return {to_u32(env, get(env, value, "maxNumOfWqs")), to_u32(env, get(env, value, "maxNumOfWqesInWq")),
          static_cast<hbldv_mem_id>(to_u32(env, get(env, value, "memId"))),
          static_cast<hbldv_swq_granularity>(to_u32(env, get(env, value, "swqGranularity")))};
}

// setPortEx(library, context, { portNum, caps, wqArrAttr[5], qpWqBpOffs[16], atomicFnaFifoOffs[2], atomicFnaMaskSize
// }): 0 | -errno. EOPNOTSUPP: it has what only the SDK's library knows.
napi_value set_port_ex(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  Given<hbldv_port_ex_attr> attr;
  attr->port_num = to_u32(env, get(env, arguments[2], "portNum"));
  attr->caps = to_u64(env, get(env, arguments[2], "caps"));
  const napi_value arrays = get(env, arguments[2], "wqArrAttr"), offsets = get(env, arguments[2], "qpWqBpOffs");
  const napi_value atomics = get(env, arguments[2], "atomicFnaFifoOffs");
  napi_value element = nullptr;
  for (std::uint32_t i = 0; i < HBLDV_WQ_ARRAY_TYPE_MAX; ++i) {
    if (napi_get_element(env, arrays, i, &element) == napi_ok && !is_undefined(env, element)) {
      attr->wq_arr_attr[i] = to_wq_array(env, element);
    }
  }
  for (std::uint32_t i = 0; i < HBLDV_USER_BP_OFFS_MAX; ++i) {
    if (napi_get_element(env, offsets, i, &element) == napi_ok) attr->qp_wq_bp_offs[i] = to_u32(env, element);
  }
  for (std::uint32_t i = 0; i < HBLDV_ATOMIC_FNA_FIFO_OFFS_MAX; ++i) {
    if (napi_get_element(env, atomics, i, &element) == napi_ok && !is_undefined(env, element)) {
      attr->atomic_fna_fifo_offs[i] = to_u32(env, element);
    }
  }
  attr->atomic_fna_mask_size = static_cast<std::uint8_t>(to_u32(env, get(env, arguments[2], "atomicFnaMaskSize")));
  const bool atomic =
      attr->atomic_fna_fifo_offs[0] != 0 || attr->atomic_fna_fifo_offs[1] != 0 || attr->atomic_fna_mask_size != 0;
  if (atomic && !library->is_sdk()) return failure(env, EOPNOTSUPP);
  return failure(env, library->hbldv_set_port_ex(pointer<ibv_context>(context), attr.get()));
}

// queryPort(library, context, portNum): { maxNumOfQps, … } | -errno. The SDK's library tells of collectives as well.
napi_value query_port(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  Filled<hbldv_query_port_attr> filled;
  const std::uint32_t port_num = to_u32(env, arguments[2]);
  const int error = library->hbldv_query_port(pointer<ibv_context>(context), port_num, filled.get());
  if (filled.after(error) != 0) return failure(env, filled.after(error));
  const hbldv_query_port_attr& attr = *filled;
  napi_value result = object(env);
  set(env, result, "maxNumOfQps", number(env, attr.max_num_of_qps));
  set(env, result, "numAllocatedQps", number(env, attr.num_allocated_qps));
  set(env, result, "maxAllocatedQpNum", number(env, attr.max_allocated_qp_num));
  set(env, result, "maxCqSize", number(env, attr.max_cq_size));
  set(env, result, "advanced", boolean(env, attr.advanced != 0));
  set(env, result, "maxNumOfCqs", number(env, attr.max_num_of_cqs));
  set(env, result, "maxNumOfUsrFifos", number(env, attr.max_num_of_usr_fifos));
  set(env, result, "maxNumOfEncaps", number(env, attr.max_num_of_encaps));
  set(env, result, "nicMacroIdx", number(env, attr.nic_macro_idx));
  set(env, result, "nicPhysPortIdx", number(env, attr.nic_phys_port_idx));
  if (!library->is_sdk()) return result;
  set(env, result, "maxNumOfScaleOutCollQps", number(env, attr.max_num_of_scale_out_coll_qps));
  set(env, result, "maxNumOfCollQps", number(env, attr.max_num_of_coll_qps));
  set(env, result, "baseScaleOutCollQpNum", number(env, attr.base_scale_out_coll_qp_num));
  set(env, result, "baseCollQpNum", number(env, attr.base_coll_qp_num));
  set(env, result, "collQpsOffset", number(env, attr.coll_qps_offset));
  return result;
}

}  // namespace

void init_device(napi_env env, napi_value exports) {
  export_function<is_supported>(env, exports, "isSupported");
  export_function<open_device>(env, exports, "openDevice");
  export_function<query_device>(env, exports, "queryDevice");
  export_function<set_port_ex>(env, exports, "setPortEx");
  export_function<query_port>(env, exports, "queryPort");
}

}  // namespace verbs::hbl::binding
