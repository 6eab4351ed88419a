#include "binding/qp/shared_receive_queue.h"

#include <algorithm>
#include <cerrno>

#include "binding/lifetime/handle.h"
#include "provider/exchange.h"

namespace verbs::core {
namespace {

std::vector<std::shared_ptr<Object>> parents_of(const std::shared_ptr<ProtectionDomain>& pd,
                                                const std::shared_ptr<XrcDomain>& xrcd,
                                                const std::shared_ptr<CompletionQueue>& cq) {
  std::vector<std::shared_ptr<Object>> parents{pd};
  if (xrcd != nullptr) parents.push_back(xrcd);
  if (cq != nullptr) parents.push_back(cq);
  return parents;
}

}  // namespace

SharedReceiveQueue::SharedReceiveQueue(std::shared_ptr<ProtectionDomain> pd, std::shared_ptr<XrcDomain> xrcd,
                                       std::shared_ptr<CompletionQueue> cq, ibv_srq* srq, std::uint32_t max_wr,
                                       std::uint32_t max_sge)
    : Object(kKind, parents_of(pd, xrcd, cq)),
      pd_(std::move(pd)),
      xrcd_(std::move(xrcd)),
      cq_(std::move(cq)),
      srq_(srq),
      poster_(std::make_shared<SharedQueue>(context().environment(), max_wr, max_sge), max_wr) {}

SharedReceiveQueue::~SharedReceiveQueue() {
  dispose();
  queue()->release_references();
}

int SharedReceiveQueue::destroy() { return context().functions().destroy_srq(srq_); }

int SharedReceiveQueue::destroyed(int) {
  srq_ = nullptr;
  queue()->release_references();
  if (cq_ != nullptr) cq_->keep_until_polled(queue());
  return 0;
}

int SharedReceiveQueue::post_recv(Cursor& cursor, std::uint32_t count) {
  // The inline ibv_post_srq_recv, spelled out: a function of the context.
  return poster_.post(context(), cursor, count, [&](ibv_recv_wr* first, ibv_recv_wr** bad) {
    return srq_->context->ops.post_srq_recv(srq_, first, bad);
  });
}

namespace {

// createSrq(pd, { maxWr, maxSge, srqLimit, srqType }, xrcd | undefined, cq | undefined):
// { handle, id, maxWr, maxSge, srqNum } | -errno. `srqType` -1 is the plain call. `srqNum` is there for XRC.
Napi::Value create_srq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const Fields given(info[1]);
  const auto xrcd = info[2].IsUndefined() ? nullptr : take<XrcDomain>(info, 2);
  const auto cq = info[3].IsUndefined() ? nullptr : take<CompletionQueue>(info, 3);
  const Context& context = pd->context();
  if ((xrcd != nullptr && &xrcd->context() != &context) || (cq != nullptr && &cq->context() != &context)) {
    return failure(env, EINVAL);
  }
  const std::uintptr_t id = context.environment().next_id++;
  const int type = given.number<int>("srqType");
  ibv_srq_init_attr_ex attr{};
  attr.srq_context = reinterpret_cast<void*>(id);
  attr.attr.max_wr = given.u32("maxWr");
  attr.attr.max_sge = given.u32("maxSge");
  attr.attr.srq_limit = given.u32("srqLimit");
  const ibv_srq_attr asked = attr.attr;
  ibv_srq* srq = nullptr;
  errno = 0;
  if (type < 0) {
    // The shorter structure is the longer one's beginning.
    srq = context.functions().create_srq(pd->pd(), reinterpret_cast<ibv_srq_init_attr*>(&attr));
  } else if (verbs_context* extended = verbs_get_ctx_op(context.ctx(), create_srq_ex); extended != nullptr) {
    attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    attr.srq_type = static_cast<ibv_srq_type>(type);
    attr.pd = pd->pd();
    if (xrcd != nullptr) attr.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
    if (xrcd != nullptr) attr.xrcd = xrcd->get();
    if (cq != nullptr) attr.comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
    if (cq != nullptr) attr.cq = cq->cq();
    srq = extended->create_srq_ex(context.ctx(), &attr);
  } else {
    errno = EOPNOTSUPP;
  }
  if (srq == nullptr) return failure(env, creation_error());
  const std::uint32_t max_wr = std::max(attr.attr.max_wr, asked.max_wr);
  const std::uint32_t max_sge = std::max(attr.attr.max_sge, asked.max_sge);
  const auto queue = std::make_shared<SharedReceiveQueue>(pd, xrcd, cq, srq, max_wr, max_sge);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", static_cast<double>(id));
  result.Set("maxWr", max_wr);
  result.Set("maxSge", max_sge);
  std::uint32_t srq_num = 0;
  if (xrcd != nullptr && ibv_get_srq_num(srq, &srq_num) == 0) result.Set("srqNum", srq_num);
  result.Set("handle", wrap_object(env, queue));
  return result;
}

// modifySrq(srq, { maxWr, srqLimit }, mask): 0 | -errno
Napi::Value modify_srq(const Napi::CallbackInfo& info) {
  const auto queue = take<SharedReceiveQueue>(info, 0);
  const Fields given(info[1]);
  ibv_srq_attr attr{};
  attr.max_wr = given.u32("maxWr");
  attr.srq_limit = given.u32("srqLimit");
  const int mask = number_of<int>(info[2]);
  const int error = queue->context().functions().modify_srq(queue->srq(), &attr, mask);
  if (error == 0 && (mask & IBV_SRQ_MAX_WR) != 0) queue->grow(attr.max_wr);
  return failure(info.Env(), error);
}

// querySrq(srq): { maxWr, maxSge, srqLimit } | -errno
Napi::Value query_srq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto queue = take<SharedReceiveQueue>(info, 0);
  Filled<ibv_srq_attr> attr;
  if (const int error = attr.after(queue->context().functions().query_srq(queue->srq(), attr.get())); error != 0) {
    return failure(env, error);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("maxWr", attr->max_wr);
  result.Set("maxSge", attr->max_sge);
  result.Set("srqLimit", attr->srq_limit);
  return result;
}

}  // namespace

void SharedReceiveQueue::init(Napi::Object exports) {
  export_function<create_srq>(exports, "createSrq");
  export_function<modify_srq>(exports, "modifySrq");
  export_function<query_srq>(exports, "querySrq");
}

}  // namespace verbs::core
