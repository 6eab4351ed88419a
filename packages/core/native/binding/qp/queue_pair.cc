#include "binding/qp/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "binding/completion/completion_counter.h"
#include "binding/device/gid.h"
#include "binding/lifetime/handle.h"
#include "binding/qp/qp_creation.h"
#include "provider/exchange.h"

namespace verbs::core {
namespace {

std::vector<std::shared_ptr<Object>> parents_of(const QueuePair::Parts& parts) {
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

QueuePair::QueuePair(Parts parts, ibv_qp* qp, const ExtendedCalls& extended, const ibv_qp_cap& cap)
    : Object(kKind, parents_of(parts)), parts_(std::move(parts)), qp_(qp), cap_(cap) {
  if (parts_.send_cq != nullptr) send_.emplace(context(), qp_, extended, cap);
  if (parts_.recv_cq != nullptr && parts_.srq == nullptr) {
    recv_.emplace(std::make_shared<WorkQueue>(context().environment(), cap.max_recv_wr, cap.max_recv_sge),
                  cap.max_recv_wr);
  }
}

QueuePair::~QueuePair() {
  dispose();
  abandon();
}

int QueuePair::attach(const ibv_gid& gid, std::uint16_t lid) {
  const int error = context().functions().attach_mcast(qp_, &gid, lid);
  if (error == 0 && find_group(gid, lid) == groups_.end()) groups_.push_back({gid, lid});
  return error;
}

int QueuePair::detach(const ibv_gid& gid, std::uint16_t lid) {
  const int error = context().functions().detach_mcast(qp_, &gid, lid);
  if (error != 0) return error;
  if (const auto group = find_group(gid, lid); group != groups_.end()) groups_.erase(group);
  return 0;
}

std::vector<QueuePair::Group>::iterator QueuePair::find_group(const ibv_gid& gid, std::uint16_t lid) {
  return std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.lid == lid && std::memcmp(group.gid.raw, gid.raw, sizeof gid.raw) == 0;
  });
}

int QueuePair::destroy() {
  // A queue pair in a multicast group cannot be destroyed (EBUSY).
  for (const Group& group : groups_) context().functions().detach_mcast(qp_, &group.gid, group.lid);
  groups_.clear();
  const VendorMake& maker = parts_.maker;
  return maker.destroy == nullptr ? context().functions().destroy_qp(qp_) : maker.destroy(maker.data, qp_);
}

int QueuePair::destroyed(int) {
  qp_ = nullptr;
  abandon();
  return drop_kept();
}

void QueuePair::abandon() {
  if (send_) {
    send_->queue()->release_references();
    parts_.send_cq->keep_until_polled(send_->queue());
  }
  if (recv_) {
    recv_->queue()->release_references();
    parts_.recv_cq->keep_until_polled(recv_->queue());
  }
  // Its completions may still wait when the shared receive queue is gone too.
  if (parts_.srq != nullptr && parts_.recv_cq != nullptr) parts_.recv_cq->keep_until_polled(parts_.srq->queue());
  send_.reset();
  recv_.reset();
}

void QueuePair::modified(const ibv_qp_attr& attr, int mask) {
  if ((mask & IBV_QP_STATE) == 0) return;
  if (attr.qp_state == IBV_QPS_RESET) {
    forget();
    (void)drop_kept();  // the reset itself succeeded
  }
  if (attr.qp_state == IBV_QPS_RESET || attr.qp_state == IBV_QPS_INIT) provider_word_ = 0;
}

int QueuePair::drop_kept() {
  int result = 0;
  // From a copy: a drop may come back here.
  for (const Kept& kept : std::exchange(kept_, {})) {
    const int error = kept.drop(kept.data);
    if (result == 0) result = error;
  }
  return result;
}

void QueuePair::forget() {
  if (send_) parts_.send_cq->renew(*send_);
  if (recv_) parts_.recv_cq->renew(*recv_);
}

int QueuePair::post_send(Cursor& cursor, std::uint32_t count) {
  return send_ ? send_->post(context(), cursor, count) : EOPNOTSUPP;
}

int QueuePair::bind_mw(Cursor& cursor, std::uint32_t count) {
  return send_ && count == 1 ? send_->bind_window(context(), cursor) : EINVAL;
}

int QueuePair::post_recv(Cursor& cursor, std::uint32_t count) {
  if (!recv_) return EINVAL;
  // The inline ibv_post_recv, spelled out: a function of the context.
  return recv_->post(context(), cursor, count, [&](ibv_recv_wr* first, ibv_recv_wr** bad) {
    return qp_->context->ops.post_recv(qp_, first, bad);
  });
}

namespace {

// modifyQp(qp, attr, mask): 0 | -errno
Napi::Value modify_qp(const Napi::CallbackInfo& info) {
  const auto pair = take<QueuePair>(info, 0);
  ibv_qp_attr attr = read_qp_attr(Fields(info[1]));
  const int mask = number_of<int>(info[2]);
  const int error = pair->context().functions().modify_qp(pair->qp(), &attr, mask);
  if (error == 0) pair->modified(attr, mask);
  return failure(info.Env(), error);
}

// queryQp(qp, mask): { attr, initAttr } | -errno
Napi::Value query_qp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pair = take<QueuePair>(info, 0);
  Filled<ibv_qp_attr> attr;
  Filled<ibv_qp_init_attr> init;
  const int mask = number_of<int>(info[1]);
  const int error =
      attr.after(init.after(pair->context().functions().query_qp(pair->qp(), attr.get(), mask, init.get())));
  if (error != 0) return failure(env, error < 0 ? -error : error);
  Napi::Object init_attr = Napi::Object::New(env);
  init_attr.Set("qpType", static_cast<int>(init->qp_type));
  init_attr.Set("sqSigAll", init->sq_sig_all != 0);
  init_attr.Set("cap", write_cap(env, init->cap));
  Napi::Object result = Napi::Object::New(env);
  result.Set("attr", write_qp_attr(env, *attr));
  result.Set("initAttr", init_attr);
  return result;
}

// attachMcast(qp, gid, lid), detachMcast(qp, gid, lid): 0 | -errno
template <int (QueuePair::*Call)(const ibv_gid&, std::uint16_t)>
Napi::Value multicast(const Napi::CallbackInfo& info) {
  const auto pair = take<QueuePair>(info, 0);
  const ibv_gid gid = read_gid(info[1]);
  const auto lid = number_of<std::uint16_t>(info[2]);
  return failure(info.Env(), ((*pair).*Call)(gid, lid));
}

// modifyQpRateLimit(qp, rateLimit, maxBurstSz, typicalPktSz): 0 | -errno
Napi::Value modify_qp_rate_limit(const Napi::CallbackInfo& info) {
  const auto pair = take<QueuePair>(info, 0);
  ibv_qp_rate_limit_attr attr{};
  attr.rate_limit = number_of<std::uint32_t>(info[1]);
  attr.max_burst_sz = number_of<std::uint32_t>(info[2]);
  attr.typical_pkt_sz = number_of<std::uint16_t>(info[3]);
  return failure(info.Env(), ibv_modify_qp_rate_limit(pair->qp(), &attr));
}

// queryEce(qp): { vendorId, options } | -errno; setEce(qp, vendorId, options): 0 | -errno
Napi::Value query_ece(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pair = take<QueuePair>(info, 0);
  const auto query = pair->context().functions().query_ece;
  Filled<ibv_ece> ece;
  const int error = query == nullptr ? EOPNOTSUPP : ece.after(query(pair->qp(), ece.get()));
  if (error != 0) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("vendorId", ece->vendor_id);
  result.Set("options", ece->options);
  return result;
}

Napi::Value set_ece(const Napi::CallbackInfo& info) {
  const auto pair = take<QueuePair>(info, 0);
  const auto set = pair->context().functions().set_ece;
  ibv_ece ece{};
  ece.vendor_id = number_of<std::uint32_t>(info[1]);
  ece.options = number_of<std::uint32_t>(info[2]);
  return failure(info.Env(), set == nullptr ? EOPNOTSUPP : set(pair->qp(), &ece));
}

// queryQpDataInOrder(qp, opcode, flags): the result, 0 if the library does not know.
Napi::Value query_qp_data_in_order(const Napi::CallbackInfo& info) {
  const auto pair = take<QueuePair>(info, 0);
  const auto query = pair->context().functions().query_qp_data_in_order;
  const auto opcode = number_of<ibv_wr_opcode>(info[1]);
  const int answer = query == nullptr ? 0 : query(pair->qp(), opcode, number_of<std::uint32_t>(info[2]));
  return Napi::Number::New(info.Env(), answer);
}

// ibv_comp_cntr_attach_attr, which headers before release 65 do not define.
struct CompCntrAttachAttr {
  std::uint32_t comp_mask;
  std::uint32_t operations;
};

// attachCompCntr(qp, counter, operations): 0 | -errno. The counter is a parent of the queue pair from then on.
Napi::Value attach_counter(const Napi::CallbackInfo& info) {
  const auto qp = take<QueuePair>(info, 0);
  const auto counter = take<CompletionCounter>(info, 1);
  CompCntrAttachAttr attr{.comp_mask = 0, .operations = number_of<std::uint32_t>(info[2])};
  // A provider casts the counter to its own structure.
  if (&counter->context() != &qp->context()) return failure(info.Env(), EINVAL);
  const int error = qp->context().functions().qp_attach_comp_cntr(qp->qp(), counter->get(), &attr);
  if (error == 0) qp->count_at(counter);
  return failure(info.Env(), error);
}

}  // namespace

void QueuePair::init(Napi::Object exports) {
  init_qp_creation(exports);
  export_function<verbs::core::modify_qp>(exports, "modifyQp");
  export_function<verbs::core::query_qp>(exports, "queryQp");
  export_function<multicast<&QueuePair::attach>>(exports, "attachMcast");
  export_function<multicast<&QueuePair::detach>>(exports, "detachMcast");
  export_function<modify_qp_rate_limit>(exports, "modifyQpRateLimit");
  export_function<query_ece>(exports, "queryEce");
  export_function<set_ece>(exports, "setEce");
  export_function<query_qp_data_in_order>(exports, "queryQpDataInOrder");
  export_function<attach_counter>(exports, "attachCompCntr");
}

}  // namespace verbs::core
