// Devices and ports.
#include <bit>
#include <cerrno>
#include <cstring>

#include "binding/library.h"
#include "provider/device_list.h"

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
  hbldv_ucontext_attr attr{};
  const bool given = !is_undefined(env, arguments[3]);
  if (given) {
    attr.ports_mask = to_u64(env, get(env, arguments[3], "portsMask"));
    attr.core_fd = static_cast<int>(to_integer(env, get(env, arguments[3], "coreFd")));
  }
  errno = 0;
  ibv_context* context = library->hbldv_open_device(device, given ? &attr : nullptr);
  // The library leaves errno alone where the device has an unexpected name.
  if (!context) return failure(env, errno == 0 ? ENODEV : errno);
  const napi_value handle = core()->adopt_context(env, arguments[1], context);
  if (!handle) return nullptr;
  napi_value result = object(env);
  set(env, result, "handle", handle);
  set(env, result, "device", text(env, context->device->name));
  return result;
}

// What a library may write of a structure is more than any that is known has: a longer one ends in here.
template <typename Structure>
union Roomy {
  Roomy() : bytes{} {}
  Structure structure;
  std::uint8_t bytes[sizeof(Structure) + 256];
};

// queryDevice(library, context): { caps, portsMask, numPorts, extPortsMask? } | -errno. The library of 2024 tells no
// number of ports and no external ones.
napi_value query_device(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  Roomy<hbldv_sdk_device_attr> attr;
  auto* plain = reinterpret_cast<hbldv_device_attr*>(&attr.structure);
  if (const int error = library->hbldv_query_device(pointer<ibv_context>(context), plain)) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "caps", big(env, plain->caps));
  if (library->is_sdk()) {
    set(env, result, "portsMask", big(env, attr.structure.hw_ports_mask));
    set(env, result, "numPorts", number(env, attr.structure.num_ports));
    set(env, result, "extPortsMask", big(env, attr.structure.ext_ports_mask));
  } else {
    set(env, result, "portsMask", big(env, plain->ports_mask));
    set(env, result, "numPorts", number(env, static_cast<std::uint32_t>(std::popcount(plain->ports_mask))));
  }
  return result;
}

hbldv_wq_array_attr to_wq_array(napi_env env, napi_value value) {
  return {to_u32(env, get(env, value, "maxNumOfWqs")), to_u32(env, get(env, value, "maxNumOfWqesInWq")),
          static_cast<hbldv_mem_id>(to_u32(env, get(env, value, "memId"))),
          static_cast<hbldv_swq_granularity>(to_u32(env, get(env, value, "swqGranularity")))};
}

// setPortEx(library, context, { portNum, caps, wqArrAttr[5], qpWqBpOffs[16] }): 0 | -errno
napi_value set_port_ex(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  hbldv_port_ex_attr attr{};
  attr.port_num = to_u32(env, get(env, arguments[2], "portNum"));
  attr.caps = to_u64(env, get(env, arguments[2], "caps"));
  const napi_value arrays = get(env, arguments[2], "wqArrAttr"), offsets = get(env, arguments[2], "qpWqBpOffs");
  napi_value element = nullptr;
  for (std::uint32_t i = 0; i < HBLDV_WQ_ARRAY_TYPE_MAX; ++i) {
    if (napi_get_element(env, arrays, i, &element) == napi_ok && !is_undefined(env, element)) {
      attr.wq_arr_attr[i] = to_wq_array(env, element);
    }
  }
  for (std::uint32_t i = 0; i < HBLDV_USER_BP_OFFS_MAX; ++i) {
    if (napi_get_element(env, offsets, i, &element) == napi_ok) attr.qp_wq_bp_offs[i] = to_u32(env, element);
  }
  return failure(env, library->hbldv_set_port_ex(pointer<ibv_context>(context), &attr));
}

// queryPort(library, context, portNum): { maxNumOfQps, … } | -errno
napi_value query_port(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  Roomy<hbldv_query_port_attr> roomy;
  const hbldv_query_port_attr& attr = roomy.structure;
  const std::uint32_t port_num = to_u32(env, arguments[2]);
  if (const int error = library->hbldv_query_port(pointer<ibv_context>(context), port_num, &roomy.structure)) {
    return failure(env, error);
  }
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
