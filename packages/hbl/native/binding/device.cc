// Devices and ports.
#include <bit>
#include <cerrno>
#include <cstring>

#include "binding/library.h"
#include "provider/exchange.h"
#include "provider/libraries.h"

namespace verbs::hbl::binding {
namespace {

// isSupported(library, libibverbs, name): boolean
Napi::Value is_supported(const Napi::CallbackInfo& info) {
  const Library& library = library_of(info, 0);
  const DeviceList list(info[1]);
  ibv_device* device = list.find(string_of(info[2]));
  return Napi::Boolean::New(info.Env(), device && library.hbldv_is_supported(device));
}

// openDevice(library, libibverbs, name, { portsMask, coreFd } | undefined): { handle, device } | -errno. `device` is
// the name of the device that the library has opened.
Napi::Value open_device(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const DeviceList list(info[1]);
  ibv_device* device = list.find(string_of(info[2]));
  if (!device) return failure(env, ENODEV);
  Given<hbldv_ucontext_attr> attr;
  const bool given = !info[3].IsUndefined();
  if (given) {
    const Fields fields(info[3]);
    attr->ports_mask = fields.u64("portsMask");
    attr->core_fd = fields.number<int>("coreFd");
  }
  errno = 0;
  ibv_context* context = library.hbldv_open_device(device, given ? attr.get() : nullptr);
  // The library leaves errno alone where the device has an unexpected name.
  if (!context) return failure(env, errno == 0 ? ENODEV : errno);
  const Napi::Value handle = checked(env, core()->adopt_context(env, info[1], context));
  Napi::Object result = Napi::Object::New(env);
  result.Set("handle", handle);
  result.Set("device", context->device->name);
  return result;
}

// queryDevice(library, context): { caps, portsMask, numPorts, extPortsMask? } | -errno. The library of 2024 tells no
// number of ports and no external ones. EPROTO: its structure is neither of the two.
Napi::Value query_device(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto context = take<ibv_context>(info, 1);
  const auto query = [&](auto& attr) {
    auto* plain = attr.template get<hbldv_device_attr>();
    return attr.after_exactly(library.hbldv_query_device(context.get(), plain));
  };
  const auto described = [&](std::uint64_t caps, std::uint64_t ports, std::uint32_t count) {
    Napi::Object result = Napi::Object::New(env);
    result.Set("caps", big(env, caps));
    result.Set("portsMask", big(env, ports));
    result.Set("numPorts", count);
    return result;
  };
  if (library.is_sdk()) {
    Filled<hbldv_sdk_device_attr> attr;
    if (const int error = query(attr)) return failure(env, error);
    Napi::Object result = described(attr->caps, attr->hw_ports_mask, attr->num_ports);
    result.Set("extPortsMask", big(env, attr->ext_ports_mask));
    return result;
  }
  Filled<hbldv_device_attr> attr;
  if (const int error = query(attr)) return failure(env, error);
  return described(attr->caps, attr->ports_mask, static_cast<std::uint32_t>(std::popcount(attr->ports_mask)));
}

hbldv_wq_array_attr to_wq_array(const Fields& value) {
  return {value.u32("maxNumOfWqs"), value.u32("maxNumOfWqesInWq"), value.number<hbldv_mem_id>("memId"),
          value.number<hbldv_swq_granularity>("swqGranularity")};
}

// setPortEx(library, context, { portNum, caps, wqArrAttr[5], qpWqBpOffs[16], atomicFnaFifoOffs[2], atomicFnaMaskSize
// }): 0 | -errno. EOPNOTSUPP: it has what only the SDK's library knows.
Napi::Value set_port_ex(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto context = take<ibv_context>(info, 1);
  Given<hbldv_port_ex_attr> attr;
  const Fields given(info[2]);
  attr->port_num = given.u32("portNum");
  attr->caps = given.u64("caps");
  const Napi::Array arrays = given.list("wqArrAttr"), offsets = given.list("qpWqBpOffs");
  const Napi::Array atomics = given.list("atomicFnaFifoOffs");
  for (std::uint32_t i = 0; i < HBLDV_WQ_ARRAY_TYPE_MAX; ++i) {
    if (const Napi::Value each = arrays.Get(i); !each.IsUndefined()) attr->wq_arr_attr[i] = to_wq_array(Fields(each));
  }
  for (std::uint32_t i = 0; i < HBLDV_USER_BP_OFFS_MAX; ++i) {
    attr->qp_wq_bp_offs[i] = number_of<std::uint32_t>(offsets.Get(i));
  }
  for (std::uint32_t i = 0; i < HBLDV_ATOMIC_FNA_FIFO_OFFS_MAX; ++i) {
    attr->atomic_fna_fifo_offs[i] = number_of<std::uint32_t>(atomics.Get(i));
  }
  attr->atomic_fna_mask_size = given.number<std::uint8_t>("atomicFnaMaskSize");
  const bool atomic =
      attr->atomic_fna_fifo_offs[0] != 0 || attr->atomic_fna_fifo_offs[1] != 0 || attr->atomic_fna_mask_size != 0;
  if (atomic && !library.is_sdk()) return failure(env, EOPNOTSUPP);
  return failure(env, library.hbldv_set_port_ex(context.get(), attr.get()));
}

// queryPort(library, context, portNum): { maxNumOfQps, … } | -errno. The SDK's library tells of collectives as well.
Napi::Value query_port(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto context = take<ibv_context>(info, 1);
  Filled<hbldv_query_port_attr> filled;
  const std::uint32_t port_num = number_of<std::uint32_t>(info[2]);
  const int error = library.hbldv_query_port(context.get(), port_num, filled.get());
  if (filled.after(error) != 0) return failure(env, filled.after(error));
  const hbldv_query_port_attr& attr = *filled;
  Napi::Object result = Napi::Object::New(env);
  result.Set("maxNumOfQps", attr.max_num_of_qps);
  result.Set("numAllocatedQps", attr.num_allocated_qps);
  result.Set("maxAllocatedQpNum", attr.max_allocated_qp_num);
  result.Set("maxCqSize", attr.max_cq_size);
  result.Set("advanced", attr.advanced != 0);
  result.Set("maxNumOfCqs", attr.max_num_of_cqs);
  result.Set("maxNumOfUsrFifos", attr.max_num_of_usr_fifos);
  result.Set("maxNumOfEncaps", attr.max_num_of_encaps);
  result.Set("nicMacroIdx", attr.nic_macro_idx);
  result.Set("nicPhysPortIdx", attr.nic_phys_port_idx);
  if (!library.is_sdk()) return result;
  result.Set("maxNumOfScaleOutCollQps", attr.max_num_of_scale_out_coll_qps);
  result.Set("maxNumOfCollQps", attr.max_num_of_coll_qps);
  result.Set("baseScaleOutCollQpNum", attr.base_scale_out_coll_qp_num);
  result.Set("baseCollQpNum", attr.base_coll_qp_num);
  result.Set("collQpsOffset", attr.coll_qps_offset);
  return result;
}

}  // namespace

void init_device(Napi::Object exports) {
  export_function<is_supported>(exports, "isSupported");
  export_function<open_device>(exports, "openDevice");
  export_function<query_device>(exports, "queryDevice");
  export_function<set_port_ex>(exports, "setPortEx");
  export_function<query_port>(exports, "queryPort");
}

}  // namespace verbs::hbl::binding
