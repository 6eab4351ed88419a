#include "binding/qp/shared_receive_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

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
                                       std::uint32_t max_sge, const ibv_tm_cap& tags)
    : Object(kKind, parents_of(pd, xrcd, cq)),
      pd_(std::move(pd)),
      xrcd_(std::move(xrcd)),
      cq_(std::move(cq)),
      srq_(srq),
      poster_(std::make_shared<SharedQueue>(context().environment(), max_wr, max_sge), max_wr) {
  if (tags.max_num_tags == 0) return;
  buffers_ = std::make_shared<TaggedBuffers>(context().environment(), tags.max_num_tags);
  operations_ = std::make_shared<TagOperations>(context().environment(), tags.max_ops, buffers_);
}

SharedReceiveQueue::~SharedReceiveQueue() {
  dispose();
  queue()->release_references();
  if (buffers_ != nullptr) buffers_->release_references();
}

int SharedReceiveQueue::destroy() { return context().functions().destroy_srq(srq_); }

int SharedReceiveQueue::destroyed(int) {
  srq_ = nullptr;
  queue()->release_references();
  if (cq_ != nullptr) cq_->keep_until_polled(queue());
  if (buffers_ == nullptr) return 0;
  buffers_->release_references();
  cq_->keep_until_polled(buffers_);
  cq_->keep_until_polled(operations_);
  return 0;
}

int SharedReceiveQueue::post_recv(Cursor& cursor, std::uint32_t count) {
  // The inline ibv_post_srq_recv, spelled out: a function of the context.
  return poster_.post(context(), cursor, count, [&](ibv_recv_wr* first, ibv_recv_wr** bad) {
    return srq_->context->ops.post_srq_recv(srq_, first, bad);
  });
}

int SharedReceiveQueue::add_tag(Cursor& cursor, ibv_ops_wr* wr) {
  if (buffers_ == nullptr) return EINVAL;
  RecvRecord record;
  cursor.next();
  if (!cursor.read(&record)) return kTruncated;
  const bool signaled = (wr->flags & IBV_OPS_SIGNALED) != 0;
  if (buffers_->full() || (signaled && operations_->full())) return kQueueFull;
  const UserId id{record.wr_id, (record.flags & kIdIsNumber) != 0};
  ibv_sge sge{};
  wr->tm.add.recv_wr_id = buffers_->stage(id);
  wr->tm.add.sg_list = &sge;
  int result = stage_sges(context(), *buffers_, cursor, record.num_sge, &sge, &wr->tm.add.num_sge);
  if (result == 0 && signaled) wr->wr_id = operations_->stage_operation(id, std::nullopt);
  ibv_ops_wr* bad = nullptr;
  if (result == 0) result = std::abs(ibv_post_srq_ops(srq_, wr, &bad));
  if (result == 0) buffers_->set_handle(wr->tm.handle);
  buffers_->commit(result == 0 ? 1 : 0);
  operations_->commit(result == 0 && signaled ? 1 : 0);
  return result;
}

int SharedReceiveQueue::operate(ibv_ops_wr* wr, UserId id) {
  if (buffers_ == nullptr) return EINVAL;
  const bool signaled = (wr->flags & IBV_OPS_SIGNALED) != 0;
  std::optional<std::uint32_t> removes;
  if (wr->opcode == IBV_WR_TAG_DEL) {
    removes = buffers_->find(wr->tm.handle);
    if (!removes) return ENOENT;
  }
  if (signaled && operations_->full()) return ENOMEM;
  if (signaled) wr->wr_id = operations_->stage_operation(id, removes);
  ibv_ops_wr* bad = nullptr;
  const int error = std::abs(ibv_post_srq_ops(srq_, wr, &bad));
  operations_->commit(error == 0 && signaled ? 1 : 0);
  return error;
}

namespace {

// createSrq(pd, { maxWr, maxSge, srqLimit, srqType, maxTags, maxOps }, xrcd | undefined, cq | undefined):
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
  if (!can_queue(asked.max_wr, asked.max_sge)) return failure(env, EINVAL);
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
    if (type == IBV_SRQT_TM) attr.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
    attr.tm_cap = {given.u32("maxTags"), given.u32("maxOps")};
    srq = extended->create_srq_ex(context.ctx(), &attr);
  } else {
    errno = EOPNOTSUPP;
  }
  if (srq == nullptr) return failure(env, creation_error());
  // Providers leave it out of what create_srq_ex makes.
  srq->srq_context = attr.srq_context;
  const std::uint32_t max_wr = std::max(attr.attr.max_wr, asked.max_wr);
  const std::uint32_t max_sge = std::max(attr.attr.max_sge, asked.max_sge);
  const auto undo = [&] { context.functions().destroy_srq(srq); };
  const auto queue = own_or<SharedReceiveQueue>(undo, pd, xrcd, cq, srq, max_wr, max_sge, attr.tm_cap);
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

// addSrqTag(srq, batch, tag, mask, flags, unexpectedCnt, handle: Uint32Array): 0, a positive errno, or a PostError. The
// batch has one receive request.
Napi::Value add_srq_tag(const Napi::CallbackInfo& info) {
  const auto queue = take<SharedReceiveQueue>(info, 0);
  const auto batch = bytes_of(info[1]);
  ibv_ops_wr wr{};
  wr.opcode = IBV_WR_TAG_ADD;
  wr.tm.add.tag = u64_of(info[2]);
  wr.tm.add.mask = u64_of(info[3]);
  wr.flags = number_of<int>(info[4]);
  wr.tm.unexpected_cnt = number_of<std::uint32_t>(info[5]);
  const auto handle = words_of<std::uint32_t>(info[6]);
  Cursor cursor(batch.data, batch.size);
  const int result = queue->add_tag(cursor, &wr);
  if (batch.size >= sizeof cursor.header) std::memcpy(batch.data, &cursor.header, sizeof cursor.header);
  if (handle.size > 0) handle.data[0] = wr.tm.handle;
  return number(info.Env(), result);
}

// postSrqOp(srq, opcode, handle, flags, unexpectedCnt, wrId, idIsNumber): 0 | -errno
Napi::Value post_srq_op(const Napi::CallbackInfo& info) {
  const auto queue = take<SharedReceiveQueue>(info, 0);
  ibv_ops_wr wr{};
  wr.opcode = number_of<ibv_ops_wr_opcode>(info[1]);
  wr.tm.handle = number_of<std::uint32_t>(info[2]);
  wr.flags = number_of<int>(info[3]);
  wr.tm.unexpected_cnt = number_of<std::uint32_t>(info[4]);
  const UserId id{u64_of(info[5]), flag_of(info[6])};
  return failure(info.Env(), queue->operate(&wr, id));
}

}  // namespace

void SharedReceiveQueue::init(Napi::Object exports) {
  export_function<create_srq>(exports, "createSrq");
  export_function<modify_srq>(exports, "modifySrq");
  export_function<query_srq>(exports, "querySrq");
  export_function<add_srq_tag>(exports, "addSrqTag");
  export_function<post_srq_op>(exports, "postSrqOp");
}

}  // namespace verbs::core
