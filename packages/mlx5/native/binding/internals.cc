// The device's own view of objects of the verbs: mlx5dv_init_obj, without its pointers into mapped memory.
#include <cstring>

#include "objects.h"

namespace verbs::mlx5 {
namespace {

// initQp(library, qp): { sqWqeCnt, … } | -errno
napi_value init_qp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  const Library* library = library_of(arguments, 0);
  auto* qp = library ? held.verbs<ibv_qp>(*library, arguments, 1, VERBS_CORE_QP) : nullptr;
  if (!qp) return nullptr;
  mlx5dv_qp out{};
  out.comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES | MLX5DV_QP_MASK_RAW_QP_TIR_ADDR;
  mlx5dv_obj init{};
  init.qp = {qp, &out};
  if (const int error = status(library->mlx5dv_init_obj, &init, std::uint64_t{MLX5DV_OBJ_QP})) {
    return failure(env, error);
  }
  napi_value result = object(env);
  set(env, result, "sqWqeCnt", number(env, out.sq.wqe_cnt));
  set(env, result, "sqStride", number(env, out.sq.stride));
  set(env, result, "rqWqeCnt", number(env, out.rq.wqe_cnt));
  set(env, result, "rqStride", number(env, out.rq.stride));
  set(env, result, "bfSize", number(env, out.bf.size));
  set(env, result, "compMask", big(env, out.comp_mask));
  set(env, result, "tirn", number(env, out.tirn));
  set(env, result, "tisn", number(env, out.tisn));
  set(env, result, "rqn", number(env, out.rqn));
  set(env, result, "sqn", number(env, out.sqn));
  set(env, result, "tirIcmAddr", big(env, out.tir_icm_addr));
  return result;
}

// initCq(library, cq): { cqeCnt, cqeSize, cqn } | -errno
napi_value init_cq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  const Library* library = library_of(arguments, 0);
  auto* cq = library ? held.verbs<ibv_cq>(*library, arguments, 1, VERBS_CORE_CQ) : nullptr;
  if (!cq) return nullptr;
  mlx5dv_cq out{};
  mlx5dv_obj init{};
  init.cq = {cq, &out};
  if (const int error = status(library->mlx5dv_init_obj, &init, std::uint64_t{MLX5DV_OBJ_CQ})) {
    return failure(env, error);
  }
  napi_value result = object(env);
  set(env, result, "cqeCnt", number(env, out.cqe_cnt));
  set(env, result, "cqeSize", number(env, out.cqe_size));
  set(env, result, "cqn", number(env, out.cqn));
  return result;
}

// initSrq(library, srq): { stride, head, tail, srqn } | -errno
napi_value init_srq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  const Library* library = library_of(arguments, 0);
  auto* srq = library ? held.verbs<ibv_srq>(*library, arguments, 1, VERBS_CORE_SRQ) : nullptr;
  if (!srq) return nullptr;
  mlx5dv_srq out{};
  out.comp_mask = MLX5DV_SRQ_MASK_SRQN;
  mlx5dv_obj init{};
  init.srq = {srq, &out};
  if (const int error = status(library->mlx5dv_init_obj, &init, std::uint64_t{MLX5DV_OBJ_SRQ})) {
    return failure(env, error);
  }
  napi_value result = object(env);
  set(env, result, "stride", number(env, out.stride));
  set(env, result, "head", number(env, out.head));
  set(env, result, "tail", number(env, out.tail));
  set(env, result, "srqn", number(env, out.srqn));
  return result;
}

// initRwq(library, wq): { wqeCnt, stride } | -errno
napi_value init_rwq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  const Library* library = library_of(arguments, 0);
  auto* wq = library ? held.verbs<ibv_wq>(*library, arguments, 1, VERBS_CORE_WQ) : nullptr;
  if (!wq) return nullptr;
  mlx5dv_rwq out{};
  mlx5dv_obj init{};
  init.rwq = {wq, &out};
  if (const int error = status(library->mlx5dv_init_obj, &init, std::uint64_t{MLX5DV_OBJ_RWQ})) {
    return failure(env, error);
  }
  napi_value result = object(env);
  set(env, result, "wqeCnt", number(env, out.wqe_cnt));
  set(env, result, "stride", number(env, out.stride));
  return result;
}

// initDm(library, dm): { length, remoteVa } | -errno
napi_value init_dm(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  const Library* library = library_of(arguments, 0);
  auto* dm = library ? held.verbs<ibv_dm>(*library, arguments, 1, VERBS_CORE_DM) : nullptr;
  if (!dm) return nullptr;
  mlx5dv_dm out{};
  out.comp_mask = MLX5DV_DM_MASK_REMOTE_VA;
  mlx5dv_obj init{};
  init.dm = {dm, &out};
  if (const int error = status(library->mlx5dv_init_obj, &init, std::uint64_t{MLX5DV_OBJ_DM})) {
    return failure(env, error);
  }
  napi_value result = object(env);
  set(env, result, "length", big(env, out.length));
  set(env, result, "remoteVa", big(env, out.remote_va));
  return result;
}

// initPd(library, pd): pdn | -errno
napi_value init_pd(const Arguments& arguments) {
  Held held;
  const Library* library = library_of(arguments, 0);
  auto* pd = library ? held.verbs<ibv_pd>(*library, arguments, 1, VERBS_CORE_PD) : nullptr;
  if (!pd) return nullptr;
  mlx5dv_pd out{};
  mlx5dv_obj init{};
  init.pd = {pd, &out};
  const int error = status(library->mlx5dv_init_obj, &init, std::uint64_t{MLX5DV_OBJ_PD});
  return error != 0 ? failure(arguments.env, error) : number(arguments.env, out.pdn);
}

// initAh(library, ah, into: 48 bytes): 0 | -errno. The address vector, as work requests have it.
napi_value init_ah(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  const Library* library = library_of(arguments, 0);
  auto* ah = library ? held.verbs<ibv_ah>(*library, arguments, 1, VERBS_CORE_AH) : nullptr;
  if (!ah) return nullptr;
  const Bytes into = to_bytes(env, arguments[2]);
  if (into.size != sizeof(mlx5_wqe_av)) return failure(env, EINVAL);
  mlx5dv_ah out{};
  mlx5dv_obj init{};
  init.ah = {ah, &out};
  if (const int error = status(library->mlx5dv_init_obj, &init, std::uint64_t{MLX5DV_OBJ_AH})) {
    return failure(env, error);
  }
  if (!out.av) return failure(env, EOPNOTSUPP);
  std::memcpy(into.data, out.av, into.size);
  return failure(env, 0);
}

}  // namespace

void init_internals(napi_env env, napi_value exports) {
  export_function<init_qp>(env, exports, "initQp");
  export_function<init_cq>(env, exports, "initCq");
  export_function<init_srq>(env, exports, "initSrq");
  export_function<init_rwq>(env, exports, "initRwq");
  export_function<init_dm>(env, exports, "initDm");
  export_function<init_pd>(env, exports, "initPd");
  export_function<init_ah>(env, exports, "initAh");
}

}  // namespace verbs::mlx5
