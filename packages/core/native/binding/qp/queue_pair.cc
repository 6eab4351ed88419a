#include "binding/qp/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "binding/device/gid.h"
#include "binding/lifetime/handle.h"
#include "binding/qp/qp_attributes.h"
#include "binding/qp/qp_creation.h"

namespace verbs::core {
namespace {

std::vector<std::shared_ptr<Object>> Parents(const QueuePair::Parts& parts) {
  std::vector<std::shared_ptr<Object>> parents;
  const auto add = [&](const std::shared_ptr<Object>& object) {
    if (object != nullptr && std::find(parents.begin(), parents.end(), object) == parents.end()) {
      parents.push_back(object);
    }
  };
  add(parts.pd);
  add(parts.xrcd);
  add(parts.send_cq);
  add(parts.recv_cq);
  add(parts.srq);
  for (const std::shared_ptr<Object>& other : parts.others) add(other);
  return parents;
}

}  // namespace

QueuePair::QueuePair(Parts parts, ibv_qp* qp, ibv_qp_ex* extended, const ibv_qp_cap& cap)
    : Object(kKind, Parents(parts)), parts_(std::move(parts)), qp_(qp) {
  if (parts_.send_cq != nullptr) send_.emplace(context(), qp_, extended, cap);
  if (parts_.recv_cq != nullptr && parts_.srq == nullptr) {
    recv_.emplace(std::make_shared<WorkQueue>(context().environment(), cap.max_recv_wr, cap.max_recv_sge),
                  cap.max_recv_wr);
  }
}

QueuePair::~QueuePair() {
  Dispose();
  Abandon();
}

int QueuePair::Attach(const ibv_gid& gid, std::uint16_t lid) {
  const int error = context().functions().attach_mcast(qp_, &gid, lid);
  if (error == 0 && FindGroup(gid, lid) == groups_.end()) groups_.push_back({gid, lid});
  return error;
}

int QueuePair::Detach(const ibv_gid& gid, std::uint16_t lid) {
  const int error = context().functions().detach_mcast(qp_, &gid, lid);
  if (error != 0) return error;
  if (const auto group = FindGroup(gid, lid); group != groups_.end()) groups_.erase(group);
  return 0;
}

std::vector<QueuePair::Group>::iterator QueuePair::FindGroup(const ibv_gid& gid, std::uint16_t lid) {
  return std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.lid == lid && std::memcmp(group.gid.raw, gid.raw, sizeof gid.raw) == 0;
  });
}

int QueuePair::Release() {
  // A queue pair in a multicast group cannot be destroyed (EBUSY).
  for (const Group& group : groups_) context().functions().detach_mcast(qp_, &group.gid, group.lid);
  groups_.clear();
  if (const int error = context().functions().destroy_qp(qp_); error != 0) return error;
  qp_ = nullptr;
  Abandon();
  return 0;
}

void QueuePair::Abandon() {
  if (send_) {
    send_->queue()->ReleaseReferences();
    parts_.send_cq->KeepUntilPolled(send_->queue());
  }
  if (recv_) {
    recv_->queue()->ReleaseReferences();
    parts_.recv_cq->KeepUntilPolled(recv_->queue());
  }
  // Its completions may still wait when the shared receive queue is gone too.
  if (parts_.srq != nullptr && parts_.recv_cq != nullptr) parts_.recv_cq->KeepUntilPolled(parts_.srq->queue());
  send_.reset();
  recv_.reset();
}

void QueuePair::Forget() {
  if (send_) parts_.send_cq->Renew(*send_);
  if (recv_) parts_.recv_cq->Renew(*recv_);
}

int QueuePair::PostSend(Cursor& cursor, std::uint32_t count) {
  return send_ ? send_->Post(context(), cursor, count) : EOPNOTSUPP;
}

int QueuePair::BindMw(Cursor& cursor, std::uint32_t count) {
  return send_ && count == 1 ? send_->BindWindow(context(), cursor) : EINVAL;
}

int QueuePair::PostRecv(Cursor& cursor, std::uint32_t count) {
  if (!recv_) return EINVAL;
  // The inline ibv_post_recv, spelled out: a function of the context.
  return recv_->Post(context(), cursor, count, [&](ibv_recv_wr* first, ibv_recv_wr** bad) {
    return qp_->context->ops.post_recv(qp_, first, bad);
  });
}

namespace {

// modifyQp(qp, attr, mask): 0 | -errno
Napi::Value ModifyQp(const Napi::CallbackInfo& info) {
  const auto pair = Unwrap<QueuePair>(info, 0);
  ibv_qp_attr attr = ReadQpAttr(info[1].As<Napi::Object>());
  const int mask = info[2].As<Napi::Number>().Int32Value();
  const int error = pair->context().functions().modify_qp(pair->qp(), &attr, mask);
  if (error == 0 && (mask & IBV_QP_STATE) != 0 && attr.qp_state == IBV_QPS_RESET) pair->Forget();
  return Failure(info.Env(), error);
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

// attachMcast(qp, gid, lid), detachMcast(qp, gid, lid): 0 | -errno
template <int (QueuePair::*Call)(const ibv_gid&, std::uint16_t)>
Napi::Value Multicast(const Napi::CallbackInfo& info) {
  const auto pair = Unwrap<QueuePair>(info, 0);
  const ibv_gid gid = ReadGid(info[1]);
  const auto lid = static_cast<std::uint16_t>(info[2].As<Napi::Number>().Uint32Value());
  return Failure(info.Env(), ((*pair).*Call)(gid, lid));
}

// modifyQpRateLimit(qp, rateLimit, maxBurstSz, typicalPktSz): 0 | -errno
Napi::Value ModifyQpRateLimit(const Napi::CallbackInfo& info) {
  const auto pair = Unwrap<QueuePair>(info, 0);
  ibv_qp_rate_limit_attr attr{};
  attr.rate_limit = info[1].As<Napi::Number>().Uint32Value();
  attr.max_burst_sz = info[2].As<Napi::Number>().Uint32Value();
  attr.typical_pkt_sz = static_cast<std::uint16_t>(info[3].As<Napi::Number>().Uint32Value());
  return Failure(info.Env(), ibv_modify_qp_rate_limit(pair->qp(), &attr));
}

// queryEce(qp): { vendorId, options } | -errno; setEce(qp, vendorId, options): 0 | -errno
Napi::Value QueryEce(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pair = Unwrap<QueuePair>(info, 0);
  const auto query = pair->context().functions().query_ece;
  ibv_ece ece{};
  if (const int error = query == nullptr ? EOPNOTSUPP : query(pair->qp(), &ece); error != 0) {
    return Failure(env, error);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("vendorId", ece.vendor_id);
  result.Set("options", ece.options);
  return result;
}

Napi::Value SetEce(const Napi::CallbackInfo& info) {
  const auto pair = Unwrap<QueuePair>(info, 0);
  const auto set = pair->context().functions().set_ece;
  ibv_ece ece{};
  ece.vendor_id = info[1].As<Napi::Number>().Uint32Value();
  ece.options = info[2].As<Napi::Number>().Uint32Value();
  return Failure(info.Env(), set == nullptr ? EOPNOTSUPP : set(pair->qp(), &ece));
}

// queryQpDataInOrder(qp, opcode, flags): the answer, 0 where the library cannot tell.
Napi::Value QueryQpDataInOrder(const Napi::CallbackInfo& info) {
  const auto pair = Unwrap<QueuePair>(info, 0);
  const auto query = pair->context().functions().query_qp_data_in_order;
  const auto opcode = static_cast<ibv_wr_opcode>(info[1].As<Napi::Number>().Int32Value());
  const int answer = query == nullptr ? 0 : query(pair->qp(), opcode, info[2].As<Napi::Number>().Uint32Value());
  return Napi::Number::New(info.Env(), answer);
}

}  // namespace

void QueuePair::Init(Napi::Object exports) {
  InitQpCreation(exports);
  Export<verbs::core::ModifyQp>(exports, "modifyQp");
  Export<verbs::core::QueryQp>(exports, "queryQp");
  Export<Multicast<&QueuePair::Attach>>(exports, "attachMcast");
  Export<Multicast<&QueuePair::Detach>>(exports, "detachMcast");
  Export<ModifyQpRateLimit>(exports, "modifyQpRateLimit");
  Export<QueryEce>(exports, "queryEce");
  Export<SetEce>(exports, "setEce");
  Export<QueryQpDataInOrder>(exports, "queryQpDataInOrder");
}

}  // namespace verbs::core
