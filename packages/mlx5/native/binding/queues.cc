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
Napi::Value create_cq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Vendor<&Library::mlx5dv_create_cq, ibv_cq_init_attr_ex, mlx5dv_cq_init_attr> vendor{&library_of(info, 0)};
  Held held;
  held.verbs<ibv_context>(*vendor.library, info, 1);
  const Fields given(info[6]);
  vendor.attr.comp_mask = given.u64("compMask");
  vendor.attr.cqe_comp_res_format = given.number<std::uint8_t>("cqeCompResFormat");
  vendor.attr.flags = given.u32("flags");
  vendor.attr.cqe_size = given.number<std::uint16_t>("cqeSize");
  return checked(env, core()->create_cq(env, arguments_from(info, 1).data(), vendor.make, &vendor));
}

// createQp(library, init, { compMask, createFlags, sendOpsFlags, dcType, dctAccessKey | undefined, logNumConcurent,
// logNumErrored }): as createQp of @verbs/core
Napi::Value create_qp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Vendor<&Library::mlx5dv_create_qp, ibv_qp_init_attr_ex, mlx5dv_qp_init_attr> vendor{&library_of(info, 0)};
  const Fields given(info[2]);
  const auto field = [&](const char* name) { return given.u32(name); };
  vendor.attr.comp_mask = given.u64("compMask");
  vendor.attr.create_flags = field("createFlags");
  vendor.attr.send_ops_flags = given.u64("sendOpsFlags");
  vendor.attr.dc_init_attr.dc_type = static_cast<mlx5dv_dc_type>(field("dcType"));
  const Napi::Value key = given["dctAccessKey"];
  if (!key.IsUndefined()) {
    vendor.attr.dc_init_attr.dct_access_key = u64_of(key);
  } else {
    vendor.attr.dc_init_attr.dci_streams = {static_cast<std::uint8_t>(field("logNumConcurent")),
                                            static_cast<std::uint8_t>(field("logNumErrored"))};
  }
  return checked(env, core()->create_qp(env, arguments_from(info, 1).data(), vendor.make, &vendor));
}

// createWq(library, pd, cq, init, { compMask, singleStrideLogNumOfBytes, singleWqeLogNumOfStrides, twoByteShiftEn }):
// as createWq of @verbs/core
Napi::Value create_wq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Vendor<&Library::mlx5dv_create_wq, ibv_wq_init_attr, mlx5dv_wq_init_attr> vendor{&library_of(info, 0)};
  const Fields given(info[4]);
  const auto field = [&](const char* name) { return given.u32(name); };
  vendor.attr.comp_mask = given.u64("compMask");
  vendor.attr.striding_rq_attrs = {field("singleStrideLogNumOfBytes"), field("singleWqeLogNumOfStrides"),
                                   static_cast<std::uint8_t>(field("twoByteShiftEn"))};
  return checked(env, core()->create_wq(env, arguments_from(info, 1).data(), vendor.make, &vendor));
}

// allocDm(library, context, length, logAlignment, type): as allocDm of @verbs/core
Napi::Value alloc_dm(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Vendor<&Library::mlx5dv_alloc_dm, ibv_alloc_dm_attr, mlx5dv_alloc_dm_attr> vendor{&library_of(info, 0)};
  Held held;
  held.verbs<ibv_context>(*vendor.library, info, 1);
  vendor.attr.type = number_of<mlx5dv_alloc_dm_type>(info[4]);
  return checked(env, core()->alloc_dm(env, arguments_from(info, 1).data(), vendor.make, &vendor));
}

// regDmabufMr(library, pd, offset, length, iova, fd, access, mlx5Access): as regDmabufMr of @verbs/core
Napi::Value reg_dmabuf_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_pd> pd(info);
  const std::uint64_t length = u64_of(info[3]), iova = u64_of(info[4]);
  ibv_mr* mr = created(pd.library().mlx5dv_reg_dmabuf_mr, pd.get(), u64_of(info[2]), length, iova,
                       number_of<int>(info[5]), number_of<int>(info[6]), number_of<int>(info[7]));
  return mr ? checked(env, core()->adopt_mr(env, pd.held.newest(), mr, iova, length)) : failure(env, errno);
}

}  // namespace

void init_queues(Napi::Object exports) {
  export_function<create_cq>(exports, "createCq");
  export_function<create_qp>(exports, "createQp");
  export_function<create_wq>(exports, "createWq");
  export_function<alloc_dm>(exports, "allocDm");
  export_function<reg_dmabuf_mr>(exports, "regDmabufMr");
}

namespace {

// Settings and queries of queue pairs and address handles.

// queryQpLagPort(library, qp): { portNum, activePortNum } | -errno
Napi::Value query_lag_port(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_qp> qp(info);
  std::uint8_t port = 0, active = 0;
  if (const int error = status(qp.library().mlx5dv_query_qp_lag_port, qp.get(), &port, &active))
    return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("portNum", port);
  result.Set("activePortNum", active);
  return result;
}

// modifyQpLagPort(library, qp, portNum), modifyQpUdpSport(library, qp, udpSport), dciStreamIdReset(library, qp,
// streamId): 0 | -errno
template <typename T, int (*Library::*Function)(ibv_qp*, T)>
Napi::Value modify(const Napi::CallbackInfo& info) {
  Subject<ibv_qp> qp(info);
  return failure(info.Env(), status(qp.library().*Function, qp.get(), number_of<T>(info[2])));
}

// mapAhToQp(library, ah, qpNum): 0 | -errno
Napi::Value map_ah_to_qp(const Napi::CallbackInfo& info) {
  Subject<ibv_ah> ah(info);
  return failure(info.Env(), status(ah.library().mlx5dv_map_ah_to_qp, ah.get(), number_of<std::uint32_t>(info[2])));
}

}  // namespace

void init_queue_settings(Napi::Object exports) {
  export_function<query_lag_port>(exports, "queryQpLagPort");
  export_function<modify<std::uint8_t, &Library::mlx5dv_modify_qp_lag_port>>(exports, "modifyQpLagPort");
  export_function<modify<std::uint16_t, &Library::mlx5dv_modify_qp_udp_sport>>(exports, "modifyQpUdpSport");
  export_function<modify<std::uint16_t, &Library::mlx5dv_dci_stream_id_reset>>(exports, "dciStreamIdReset");
  export_function<map_ah_to_qp>(exports, "mapAhToQp");
}

namespace {

// Shares of the bandwidth: scheduling elements and packet pacing.

// Fills in { parent?, flags, bwShare, maxAvgBw }. 0 or an errno.
int read_attr(const Fields& given, const ibv_context* context, Held* held, mlx5dv_sched_attr* attr) {
  attr->flags = given.u32("flags");
  attr->bw_share = given.u32("bwShare");
  attr->max_avg_bw = given.u32("maxAvgBw");
  const Napi::Value parent = given["parent"];
  if (parent.IsUndefined()) return 0;
  auto* node = held->object<mlx5dv_sched_node>(parent);
  attr->parent = node->get();
  return node->context() == context ? 0 : EINVAL;
}

// schedNodeCreate(library, context, attr), schedLeafCreate(library, context, attr): handle | -errno
template <typename T, T* (*Library::*Create)(ibv_context*, const mlx5dv_sched_attr*), int (*Library::*Destroy)(T*)>
Napi::Value create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_sched_attr attr{};
  const int error = read_attr(Fields(info[2]), context.get(), &context.held, &attr);
  if (error != 0) return failure(env, error);
  const auto destroy = [](const Library& its_library, T* element) { return status(its_library.*Destroy, element); };
  return context.attach(env,
                        created(context.library().*Create, context.get(), static_cast<const mlx5dv_sched_attr*>(&attr)),
                        static_cast<typename Object<T>::Destroy>(destroy));
}

// schedNodeModify(node, attr), schedLeafModify(leaf, attr): 0 | -errno. A parent is the one that it has.
template <typename T, int (*Library::*Modify)(T*, const mlx5dv_sched_attr*)>
Napi::Value modify(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* scheduled = held.object<T>(info, 0);
  mlx5dv_sched_attr attr{};
  const int error = read_attr(Fields(info[1]), scheduled->context(), &held, &attr);
  if (error != 0) return failure(env, error);
  return failure(env,
                 status(scheduled->library().*Modify, scheduled->get(), static_cast<const mlx5dv_sched_attr*>(&attr)));
}

// modifyQpSchedElem(library, qp, requestor | undefined, responder | undefined): 0 | -errno
Napi::Value modify_qp_sched_elem(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_qp> qp(info);
  const mlx5dv_sched_leaf* leaves[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    if (info[2 + i].IsUndefined()) continue;
    auto* leaf = qp.held.object<mlx5dv_sched_leaf>(info, 2 + i);
    if (leaf->context() != qp.get()->context) return failure(env, EINVAL);
    leaves[i] = leaf->get();
  }
  return failure(env, status(qp.library().mlx5dv_modify_qp_sched_elem, qp.get(), leaves[0], leaves[1]));
}

// ppAlloc(library, context, ppContext, flags): { handle, index } | -errno
Napi::Value pp_alloc(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const Bytes bytes = bytes_of(info[2]);
  mlx5dv_pp* pacing = created(context.library().mlx5dv_pp_alloc, context.get(), bytes.size,
                              static_cast<const void*>(bytes.data), number_of<std::uint32_t>(info[3]));
  if (!pacing) return failure(env, errno);
  const std::uint16_t index = pacing->index;
  const auto destroy = [](const Library& its_library, mlx5dv_pp* its_pacing) {
    its_library.mlx5dv_pp_free(its_pacing);
    return 0;
  };
  return described(env, context.attach(env, pacing, destroy), {{"index", number(env, index)}});
}

}  // namespace

void init_scheduling(Napi::Object exports) {
  export_function<create<mlx5dv_sched_node, &Library::mlx5dv_sched_node_create, &Library::mlx5dv_sched_node_destroy>>(
      exports, "schedNodeCreate");
  export_function<create<mlx5dv_sched_leaf, &Library::mlx5dv_sched_leaf_create, &Library::mlx5dv_sched_leaf_destroy>>(
      exports, "schedLeafCreate");
  export_function<modify<mlx5dv_sched_node, &Library::mlx5dv_sched_node_modify>>(exports, "schedNodeModify");
  export_function<modify<mlx5dv_sched_leaf, &Library::mlx5dv_sched_leaf_modify>>(exports, "schedLeafModify");
  export_function<modify_qp_sched_elem>(exports, "modifyQpSchedElem");
  export_function<pp_alloc>(exports, "ppAlloc");
}

}  // namespace verbs::mlx5::binding
