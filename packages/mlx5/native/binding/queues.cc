// Completion queues, queue pairs, receive work queues, device memory and regions with what mlx5 adds to their
// attributes.
// @verbs/core reads the ordinary attributes and owns the result; this file calls only the library's function.
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// The function of libmlx5 in the place of the ordinary one.
template <auto Function, typename Base, typename Attr>
struct Vendor {
  const Library* library;
  Attr attr{};

  static void* make(void* data, void* context, void* base) {
    auto* vendor = static_cast<Vendor*>(data);
    return created(vendor->library->*Function, static_cast<ibv_context*>(context), static_cast<Base*>(base),
                   &vendor->attr);
  }
};

// createCq(library, context, cqe, channel, compVector, extended, { compMask, cqeCompResFormat, flags, cqeSize }): as
// createCq of @verbs/core
napi_value create_cq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Vendor<&Library::mlx5dv_create_cq, ibv_cq_init_attr_ex, mlx5dv_cq_init_attr> vendor{library_of(arguments, 0)};
  Held held;
  if (!vendor.library || !held.context(*vendor.library, arguments, 1)) return nullptr;
  const napi_value given = arguments[6];
  vendor.attr.comp_mask = to_u64(env, get(env, given, "compMask"));
  vendor.attr.cqe_comp_res_format = static_cast<std::uint8_t>(to_u32(env, get(env, given, "cqeCompResFormat")));
  vendor.attr.flags = to_u32(env, get(env, given, "flags"));
  vendor.attr.cqe_size = static_cast<std::uint16_t>(to_u32(env, get(env, given, "cqeSize")));
  return core()->create_cq(env, arguments.from(1), vendor.make, &vendor);
}

// createQp(library, init, { compMask, createFlags, sendOpsFlags, dcType, dctAccessKey | undefined, logNumConcurent,
// logNumErrored }): as createQp of @verbs/core
napi_value create_qp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Vendor<&Library::mlx5dv_create_qp, ibv_qp_init_attr_ex, mlx5dv_qp_init_attr> vendor{library_of(arguments, 0)};
  if (!vendor.library) return nullptr;
  const napi_value given = arguments[2];
  const auto field = [&](const char* name) { return to_u32(env, get(env, given, name)); };
  vendor.attr.comp_mask = to_u64(env, get(env, given, "compMask"));
  vendor.attr.create_flags = field("createFlags");
  vendor.attr.send_ops_flags = to_u64(env, get(env, given, "sendOpsFlags"));
  vendor.attr.dc_init_attr.dc_type = static_cast<mlx5dv_dc_type>(field("dcType"));
  const napi_value key = get(env, given, "dctAccessKey");
  if (!is_undefined(env, key)) {
    vendor.attr.dc_init_attr.dct_access_key = to_u64(env, key);
  } else {
    vendor.attr.dc_init_attr.dci_streams = {static_cast<std::uint8_t>(field("logNumConcurent")),
                                            static_cast<std::uint8_t>(field("logNumErrored"))};
  }
  return core()->create_qp(env, arguments.from(1), vendor.make, &vendor);
}

// createWq(library, pd, cq, init, { compMask, singleStrideLogNumOfBytes, singleWqeLogNumOfStrides, twoByteShiftEn }):
// as createWq of @verbs/core
napi_value create_wq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Vendor<&Library::mlx5dv_create_wq, ibv_wq_init_attr, mlx5dv_wq_init_attr> vendor{library_of(arguments, 0)};
  if (!vendor.library) return nullptr;
  const napi_value given = arguments[4];
  const auto field = [&](const char* name) { return to_u32(env, get(env, given, name)); };
  vendor.attr.comp_mask = to_u64(env, get(env, given, "compMask"));
  vendor.attr.striding_rq_attrs = {field("singleStrideLogNumOfBytes"), field("singleWqeLogNumOfStrides"),
                                   static_cast<std::uint8_t>(field("twoByteShiftEn"))};
  return core()->create_wq(env, arguments.from(1), vendor.make, &vendor);
}

// allocDm(library, context, length, logAlignment, type): as allocDm of @verbs/core
napi_value alloc_dm(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Vendor<&Library::mlx5dv_alloc_dm, ibv_alloc_dm_attr, mlx5dv_alloc_dm_attr> vendor{library_of(arguments, 0)};
  Held held;
  if (!vendor.library || !held.context(*vendor.library, arguments, 1)) return nullptr;
  vendor.attr.type = static_cast<mlx5dv_alloc_dm_type>(to_u32(env, arguments[4]));
  return core()->alloc_dm(env, arguments.from(1), vendor.make, &vendor);
}

// regDmabufMr(library, pd, offset, length, iova, fd, access, mlx5Access): as regDmabufMr of @verbs/core
napi_value reg_dmabuf_mr(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_pd> pd(arguments);
  if (!pd) return nullptr;
  const std::uint64_t length = to_u64(env, arguments[3]), iova = to_u64(env, arguments[4]);
  ibv_mr* mr = created(pd.library().mlx5dv_reg_dmabuf_mr, pd.get(), to_u64(env, arguments[2]), length, iova,
                       static_cast<int>(to_integer(env, arguments[5])), static_cast<int>(to_integer(env, arguments[6])),
                       static_cast<int>(to_integer(env, arguments[7])));
  return mr ? core()->adopt_mr(env, pd.held.newest(), mr, iova, length) : failure(env, errno);
}

}  // namespace

void init_queues(napi_env env, napi_value exports) {
  export_function<create_cq>(env, exports, "createCq");
  export_function<create_qp>(env, exports, "createQp");
  export_function<create_wq>(env, exports, "createWq");
  export_function<alloc_dm>(env, exports, "allocDm");
  export_function<reg_dmabuf_mr>(env, exports, "regDmabufMr");
}

}  // namespace verbs::mlx5::binding
