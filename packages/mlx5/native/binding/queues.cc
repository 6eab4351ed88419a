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

namespace {

// Settings and queries of queue pairs and address handles.

// queryQpLagPort(library, qp): { portNum, activePortNum } | -errno
napi_value query_lag_port(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_qp> qp(arguments);
  if (!qp) return nullptr;
  std::uint8_t port = 0, active = 0;
  if (const int error = status(qp.library().mlx5dv_query_qp_lag_port, qp.get(), &port, &active))
    return failure(env, error);
  napi_value result = object(env);
  set(env, result, "portNum", number(env, port));
  set(env, result, "activePortNum", number(env, active));
  return result;
}

// modifyQpLagPort(library, qp, portNum), modifyQpUdpSport(library, qp, udpSport), dciStreamIdReset(library, qp,
// streamId): 0 | -errno
template <typename T, int (*Library::*Function)(ibv_qp*, T)>
napi_value modify(const Arguments& arguments) {
  Subject<ibv_qp> qp(arguments);
  if (!qp) return nullptr;
  return failure(arguments.env,
                 status(qp.library().*Function, qp.get(), static_cast<T>(to_u32(arguments.env, arguments[2]))));
}

// mapAhToQp(library, ah, qpNum): 0 | -errno
napi_value map_ah_to_qp(const Arguments& arguments) {
  Subject<ibv_ah> ah(arguments);
  if (!ah) return nullptr;
  return failure(arguments.env,
                 status(ah.library().mlx5dv_map_ah_to_qp, ah.get(), to_u32(arguments.env, arguments[2])));
}

}  // namespace

void init_queue_settings(napi_env env, napi_value exports) {
  export_function<query_lag_port>(env, exports, "queryQpLagPort");
  export_function<modify<std::uint8_t, &Library::mlx5dv_modify_qp_lag_port>>(env, exports, "modifyQpLagPort");
  export_function<modify<std::uint16_t, &Library::mlx5dv_modify_qp_udp_sport>>(env, exports, "modifyQpUdpSport");
  export_function<modify<std::uint16_t, &Library::mlx5dv_dci_stream_id_reset>>(env, exports, "dciStreamIdReset");
  export_function<map_ah_to_qp>(env, exports, "mapAhToQp");
}

namespace {

// Shares of the bandwidth: scheduling elements and packet pacing.

// Fills in { parent?, flags, bwShare, maxAvgBw }. 0, an errno, or -1 with an exception pending.
int read_attr(napi_env env, napi_value given, const ibv_context* context, Held* held, mlx5dv_sched_attr* attr) {
  attr->flags = to_u32(env, get(env, given, "flags"));
  attr->bw_share = to_u32(env, get(env, given, "bwShare"));
  attr->max_avg_bw = to_u32(env, get(env, given, "maxAvgBw"));
  const napi_value parent = get(env, given, "parent");
  if (is_undefined(env, parent)) return 0;
  auto* node = held->object<mlx5dv_sched_node>(env, parent);
  if (!node) return -1;
  attr->parent = node->get();
  return node->context() == context ? 0 : EINVAL;
}

// schedNodeCreate(library, context, attr), schedLeafCreate(library, context, attr): handle | -errno
template <typename T, T* (*Library::*Create)(ibv_context*, const mlx5dv_sched_attr*), int (*Library::*Destroy)(T*)>
napi_value create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  mlx5dv_sched_attr attr{};
  if (const int error = read_attr(env, arguments[2], context.get(), &context.held, &attr)) {
    return error < 0 ? nullptr : failure(env, error);
  }
  const auto destroy = [](const Library& its_library, T* element) { return status(its_library.*Destroy, element); };
  return context.attach(env,
                        created(context.library().*Create, context.get(), static_cast<const mlx5dv_sched_attr*>(&attr)),
                        static_cast<typename Object<T>::Destroy>(destroy));
}

// schedNodeModify(node, attr), schedLeafModify(leaf, attr): 0 | -errno. A parent is the one that it has.
template <typename T, int (*Library::*Modify)(T*, const mlx5dv_sched_attr*)>
napi_value modify(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* scheduled = held.object<T>(arguments, 0);
  if (!scheduled) return nullptr;
  mlx5dv_sched_attr attr{};
  if (const int error = read_attr(env, arguments[1], scheduled->context(), &held, &attr)) {
    return error < 0 ? nullptr : failure(env, error);
  }
  return failure(env,
                 status(scheduled->library().*Modify, scheduled->get(), static_cast<const mlx5dv_sched_attr*>(&attr)));
}

// modifyQpSchedElem(library, qp, requestor | undefined, responder | undefined): 0 | -errno
napi_value modify_qp_sched_elem(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_qp> qp(arguments);
  if (!qp) return nullptr;
  const mlx5dv_sched_leaf* leaves[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_undefined(env, arguments[2 + i])) continue;
    auto* leaf = qp.held.object<mlx5dv_sched_leaf>(arguments, 2 + i);
    if (!leaf) return nullptr;
    if (leaf->context() != qp.get()->context) return failure(env, EINVAL);
    leaves[i] = leaf->get();
  }
  return failure(env, status(qp.library().mlx5dv_modify_qp_sched_elem, qp.get(), leaves[0], leaves[1]));
}

// ppAlloc(library, context, ppContext, flags): { handle, index } | -errno
napi_value pp_alloc(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const Bytes bytes = to_bytes(env, arguments[2]);
  mlx5dv_pp* pacing = created(context.library().mlx5dv_pp_alloc, context.get(), bytes.size,
                              static_cast<const void*>(bytes.data), to_u32(env, arguments[3]));
  if (!pacing) return failure(env, errno);
  const std::uint16_t index = pacing->index;
  const auto destroy = [](const Library& its_library, mlx5dv_pp* its_pacing) {
    its_library.mlx5dv_pp_free(its_pacing);
    return 0;
  };
  return described(env, context.attach(env, pacing, destroy), {{"index", number(env, index)}});
}

}  // namespace

void init_scheduling(napi_env env, napi_value exports) {
  export_function<create<mlx5dv_sched_node, &Library::mlx5dv_sched_node_create, &Library::mlx5dv_sched_node_destroy>>(
      env, exports, "schedNodeCreate");
  export_function<create<mlx5dv_sched_leaf, &Library::mlx5dv_sched_leaf_create, &Library::mlx5dv_sched_leaf_destroy>>(
      env, exports, "schedLeafCreate");
  export_function<modify<mlx5dv_sched_node, &Library::mlx5dv_sched_node_modify>>(env, exports, "schedNodeModify");
  export_function<modify<mlx5dv_sched_leaf, &Library::mlx5dv_sched_leaf_modify>>(env, exports, "schedLeafModify");
  export_function<modify_qp_sched_elem>(env, exports, "modifyQpSchedElem");
  export_function<pp_alloc>(env, exports, "ppAlloc");
}

}  // namespace verbs::mlx5::binding
