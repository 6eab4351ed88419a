#include "queue_pair.h"

#include <algorithm>
#include <cerrno>

#include "handle.h"
#include "qp_attributes.h"

namespace verbs::core {
namespace {

std::vector<std::shared_ptr<Object>> Parents(const std::shared_ptr<ProtectionDomain>& pd,
                                             const std::shared_ptr<CompletionQueue>& send_cq,
                                             const std::shared_ptr<CompletionQueue>& recv_cq) {
  std::vector<std::shared_ptr<Object>> parents{pd, send_cq};
  if (recv_cq != send_cq) parents.push_back(recv_cq);
  return parents;
}

}  // namespace

QueuePair::QueuePair(std::shared_ptr<ProtectionDomain> pd, std::shared_ptr<CompletionQueue> send_cq,
                     std::shared_ptr<CompletionQueue> recv_cq, ibv_qp* qp, const ibv_qp_cap& cap)
    : Object(kKind, Parents(pd, send_cq, recv_cq)),
      pd_(std::move(pd)),
      send_cq_(std::move(send_cq)),
      recv_cq_(std::move(recv_cq)),
      qp_(qp),
      send_queue_(send_cq_->AddQueue(cap.max_send_wr, cap.max_send_sge)),
      recv_queue_(recv_cq_->AddQueue(cap.max_recv_wr, cap.max_recv_sge)),
      send_requests_(std::min(cap.max_send_wr, kChunk)),
      recv_requests_(std::min(cap.max_recv_wr, kChunk)),
      send_sges_(send_requests_.size() * cap.max_send_sge),
      recv_sges_(recv_requests_.size() * cap.max_recv_sge) {}

QueuePair::~QueuePair() {
  Dispose();
  Abandon();
}

int QueuePair::Release() {
  if (const int error = context().functions().destroy_qp(qp_); error != 0) return error;
  qp_ = nullptr;
  Abandon();
  return 0;
}

void QueuePair::Abandon() {
  if (send_queue_ != nullptr) send_cq_->AbandonQueue(send_queue_);
  if (recv_queue_ != nullptr) recv_cq_->AbandonQueue(recv_queue_);
  send_queue_.reset();
  recv_queue_.reset();
}

namespace {

// createQp(pd, sendCq, recvCq, { qpType, sqSigAll, cap }): { handle, id, qpNum, cap } | -errno. `id` is its name in
// events.
Napi::Value CreateQp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  const auto send_cq = Unwrap<CompletionQueue>(info, 1);
  const auto recv_cq = Unwrap<CompletionQueue>(info, 2);
  // A provider casts what it gets to its own structures: objects of two contexts must never meet.
  if (&send_cq->context() != &pd->context() || &recv_cq->context() != &pd->context()) return Failure(env, EINVAL);
  const auto attr = info[3].As<Napi::Object>();
  ibv_qp_init_attr init{};
  const std::uintptr_t id = pd->context().environment().next_id++;
  init.qp_context = reinterpret_cast<void*>(id);
  init.send_cq = send_cq->cq();
  init.recv_cq = recv_cq->cq();
  init.qp_type = static_cast<ibv_qp_type>(attr.Get("qpType").As<Napi::Number>().Uint32Value());
  init.sq_sig_all = attr.Get("sqSigAll").As<Napi::Boolean>().Value() ? 1 : 0;
  init.cap = ReadCap(attr.Get("cap").As<Napi::Object>());
  const ibv_qp_cap asked = init.cap;
  errno = 0;
  ibv_qp* qp = pd->context().functions().create_qp(pd->pd(), &init);
  if (qp == nullptr) return Failure(env, CreationError());
  // Some providers leave a value that they do not round up at zero.
  ibv_qp_cap cap = init.cap;
  cap.max_send_wr = std::max(cap.max_send_wr, asked.max_send_wr);
  cap.max_recv_wr = std::max(cap.max_recv_wr, asked.max_recv_wr);
  cap.max_send_sge = std::max(cap.max_send_sge, asked.max_send_sge);
  cap.max_recv_sge = std::max(cap.max_recv_sge, asked.max_recv_sge);
  const auto pair = std::make_shared<QueuePair>(pd, send_cq, recv_cq, qp, cap);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", static_cast<double>(id));
  result.Set("qpNum", qp->qp_num);
  result.Set("cap", WriteCap(env, cap));
  result.Set("handle", WrapObject(env, pair));
  return result;
}

// modifyQp(qp, attr, mask): 0 | -errno
Napi::Value ModifyQp(const Napi::CallbackInfo& info) {
  const auto pair = Unwrap<QueuePair>(info, 0);
  ibv_qp_attr attr = ReadQpAttr(info[1].As<Napi::Object>());
  return Failure(info.Env(),
                 pair->context().functions().modify_qp(pair->qp(), &attr, info[2].As<Napi::Number>().Int32Value()));
}

// queryQp(qp, mask): { attr, initAttr } | -errno
Napi::Value QueryQp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pair = Unwrap<QueuePair>(info, 0);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  const int mask = info[1].As<Napi::Number>().Int32Value();
  if (const int error = pair->context().functions().query_qp(pair->qp(), &attr, mask, &init); error != 0) {
    return Failure(env, error < 0 ? -error : error);
  }
  Napi::Object init_attr = Napi::Object::New(env);
  init_attr.Set("qpType", static_cast<int>(init.qp_type));
  init_attr.Set("sqSigAll", init.sq_sig_all != 0);
  init_attr.Set("cap", WriteCap(env, init.cap));
  Napi::Object result = Napi::Object::New(env);
  result.Set("attr", WriteQpAttr(env, attr));
  result.Set("initAttr", init_attr);
  return result;
}

}  // namespace

void QueuePair::Init(Napi::Object exports) {
  Export<CreateQp>(exports, "createQp");
  Export<ModifyQp>(exports, "modifyQp");
  Export<QueryQp>(exports, "queryQp");
}

}  // namespace verbs::core
