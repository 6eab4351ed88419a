// The device's own view of objects of the verbs: mlx5dv_init_obj, without its pointers into mapped memory.
#include <cstring>

#include "binding/objects.h"
#include "provider/exchange.h"

namespace verbs::mlx5::binding {
namespace {

// Fills in the view that libmlx5 has of the subject: 0, or an errno. `Part` is its member of mlx5dv_obj.
template <auto Part, typename T, typename View>
int look(const Subject<T>& subject, std::uint64_t type, Filled<View>* view) {
  Given<mlx5dv_obj> objects;
  (*objects.get()).*Part = {subject.get(), view->get()};
  return view->after(status(subject.library().mlx5dv_init_obj, objects.get(), type));
}

// initQp(library, qp): { sqWqeCnt, … } | -errno
napi_value init_qp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_qp> qp(arguments);
  if (!qp) return nullptr;
  Filled<mlx5dv_qp> out;
  out->comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES | MLX5DV_QP_MASK_RAW_QP_TIR_ADDR;
  if (const int error = look<&mlx5dv_obj::qp>(qp, MLX5DV_OBJ_QP, &out)) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "sqWqeCnt", number(env, out->sq.wqe_cnt));
  set(env, result, "sqStride", number(env, out->sq.stride));
  set(env, result, "rqWqeCnt", number(env, out->rq.wqe_cnt));
  set(env, result, "rqStride", number(env, out->rq.stride));
  set(env, result, "bfSize", number(env, out->bf.size));
  set(env, result, "compMask", big(env, out->comp_mask));
  set(env, result, "tirn", number(env, out->tirn));
  set(env, result, "tisn", number(env, out->tisn));
  set(env, result, "rqn", number(env, out->rqn));
  set(env, result, "sqn", number(env, out->sqn));
  set(env, result, "tirIcmAddr", big(env, out->tir_icm_addr));
  return result;
}

// initCq(library, cq): { cqeCnt, cqeSize, cqn } | -errno
napi_value init_cq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_cq> cq(arguments);
  if (!cq) return nullptr;
  Filled<mlx5dv_cq> out;
  if (const int error = look<&mlx5dv_obj::cq>(cq, MLX5DV_OBJ_CQ, &out)) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "cqeCnt", number(env, out->cqe_cnt));
  set(env, result, "cqeSize", number(env, out->cqe_size));
  set(env, result, "cqn", number(env, out->cqn));
  return result;
}

// initSrq(library, srq): { stride, head, tail, srqn } | -errno
napi_value init_srq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_srq> srq(arguments);
  if (!srq) return nullptr;
  Filled<mlx5dv_srq> out;
  out->comp_mask = MLX5DV_SRQ_MASK_SRQN;
  if (const int error = look<&mlx5dv_obj::srq>(srq, MLX5DV_OBJ_SRQ, &out)) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "stride", number(env, out->stride));
  set(env, result, "head", number(env, out->head));
  set(env, result, "tail", number(env, out->tail));
  set(env, result, "srqn", number(env, out->srqn));
  return result;
}

// initRwq(library, wq): { wqeCnt, stride } | -errno
napi_value init_rwq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_wq> wq(arguments);
  if (!wq) return nullptr;
  Filled<mlx5dv_rwq> out;
  if (const int error = look<&mlx5dv_obj::rwq>(wq, MLX5DV_OBJ_RWQ, &out)) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "wqeCnt", number(env, out->wqe_cnt));
  set(env, result, "stride", number(env, out->stride));
  return result;
}

// initDm(library, dm): { length, remoteVa } | -errno
napi_value init_dm(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_dm> dm(arguments);
  if (!dm) return nullptr;
  Filled<mlx5dv_dm> out;
  out->comp_mask = MLX5DV_DM_MASK_REMOTE_VA;
  if (const int error = look<&mlx5dv_obj::dm>(dm, MLX5DV_OBJ_DM, &out)) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "length", big(env, out->length));
  set(env, result, "remoteVa", big(env, out->remote_va));
  return result;
}

// initPd(library, pd): pdn | -errno
napi_value init_pd(const Arguments& arguments) {
  Subject<ibv_pd> pd(arguments);
  if (!pd) return nullptr;
  Filled<mlx5dv_pd> out;
  const int error = look<&mlx5dv_obj::pd>(pd, MLX5DV_OBJ_PD, &out);
  return error != 0 ? failure(arguments.env, error) : number(arguments.env, out->pdn);
}

// initAh(library, ah, into: 48 bytes): 0 | -errno. The address vector, as work requests have it.
napi_value init_ah(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_ah> ah(arguments);
  if (!ah) return nullptr;
  const Bytes into = to_bytes(env, arguments[2]);
  if (into.size != sizeof(mlx5_wqe_av)) return failure(env, EINVAL);
  Filled<mlx5dv_ah> out;
  if (const int error = look<&mlx5dv_obj::ah>(ah, MLX5DV_OBJ_AH, &out)) return failure(env, error);
  if (!out->av) return failure(env, EOPNOTSUPP);
  std::memcpy(into.data, out->av, into.size);
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

}  // namespace verbs::mlx5::binding
