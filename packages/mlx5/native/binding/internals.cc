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
Napi::Value init_qp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_qp> qp(info);
  Filled<mlx5dv_qp> out;
  out->comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES | MLX5DV_QP_MASK_RAW_QP_TIR_ADDR;
  if (const int error = look<&mlx5dv_obj::qp>(qp, MLX5DV_OBJ_QP, &out)) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("sqWqeCnt", out->sq.wqe_cnt);
  result.Set("sqStride", out->sq.stride);
  result.Set("rqWqeCnt", out->rq.wqe_cnt);
  result.Set("rqStride", out->rq.stride);
  result.Set("bfSize", out->bf.size);
  result.Set("compMask", big(env, out->comp_mask));
  result.Set("tirn", out->tirn);
  result.Set("tisn", out->tisn);
  result.Set("rqn", out->rqn);
  result.Set("sqn", out->sqn);
  result.Set("tirIcmAddr", big(env, out->tir_icm_addr));
  return result;
}

// initCq(library, cq): { cqeCnt, cqeSize, cqn } | -errno
Napi::Value init_cq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_cq> cq(info);
  Filled<mlx5dv_cq> out;
  if (const int error = look<&mlx5dv_obj::cq>(cq, MLX5DV_OBJ_CQ, &out)) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("cqeCnt", out->cqe_cnt);
  result.Set("cqeSize", out->cqe_size);
  result.Set("cqn", out->cqn);
  return result;
}

// initSrq(library, srq): { stride, head, tail, srqn } | -errno
Napi::Value init_srq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_srq> srq(info);
  Filled<mlx5dv_srq> out;
  out->comp_mask = MLX5DV_SRQ_MASK_SRQN;
  if (const int error = look<&mlx5dv_obj::srq>(srq, MLX5DV_OBJ_SRQ, &out)) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("stride", out->stride);
  result.Set("head", out->head);
  result.Set("tail", out->tail);
  result.Set("srqn", out->srqn);
  return result;
}

// initRwq(library, wq): { wqeCnt, stride } | -errno
Napi::Value init_rwq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_wq> wq(info);
  Filled<mlx5dv_rwq> out;
  if (const int error = look<&mlx5dv_obj::rwq>(wq, MLX5DV_OBJ_RWQ, &out)) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("wqeCnt", out->wqe_cnt);
  result.Set("stride", out->stride);
  return result;
}

// initDm(library, dm): { length, remoteVa } | -errno
Napi::Value init_dm(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_dm> dm(info);
  Filled<mlx5dv_dm> out;
  out->comp_mask = MLX5DV_DM_MASK_REMOTE_VA;
  if (const int error = look<&mlx5dv_obj::dm>(dm, MLX5DV_OBJ_DM, &out)) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("length", big(env, out->length));
  result.Set("remoteVa", big(env, out->remote_va));
  return result;
}

// initPd(library, pd): pdn | -errno
Napi::Value init_pd(const Napi::CallbackInfo& info) {
  Subject<ibv_pd> pd(info);
  Filled<mlx5dv_pd> out;
  const int error = look<&mlx5dv_obj::pd>(pd, MLX5DV_OBJ_PD, &out);
  return error != 0 ? failure(info.Env(), error) : number(info.Env(), out->pdn);
}

// initAh(library, ah, into: 48 bytes): 0 | -errno. The address vector, as work requests have it.
Napi::Value init_ah(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_ah> ah(info);
  const Bytes into = bytes_of(info[2]);
  if (into.size != sizeof(mlx5_wqe_av)) return failure(env, EINVAL);
  Filled<mlx5dv_ah> out;
  if (const int error = look<&mlx5dv_obj::ah>(ah, MLX5DV_OBJ_AH, &out)) return failure(env, error);
  if (!out->av) return failure(env, EOPNOTSUPP);
  std::memcpy(into.data, out->av, into.size);
  return failure(env, 0);
}

}  // namespace

void init_internals(Napi::Object exports) {
  export_function<init_qp>(exports, "initQp");
  export_function<init_cq>(exports, "initCq");
  export_function<init_srq>(exports, "initSrq");
  export_function<init_rwq>(exports, "initRwq");
  export_function<init_dm>(exports, "initDm");
  export_function<init_pd>(exports, "initPd");
  export_function<init_ah>(exports, "initAh");
}

}  // namespace verbs::mlx5::binding
