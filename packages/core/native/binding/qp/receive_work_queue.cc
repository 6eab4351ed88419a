#include "binding/qp/receive_work_queue.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "binding/lifetime/handle.h"
#include "binding/posting/work_queue.h"

namespace verbs::core {

ReceiveWorkQueue::ReceiveWorkQueue(std::shared_ptr<ProtectionDomain> pd, std::shared_ptr<CompletionQueue> cq,
                                   ibv_wq* wq, std::uint32_t max_wr, std::uint32_t max_sge)
    : Object(kKind, {pd, cq}),
      pd_(std::move(pd)),
      cq_(std::move(cq)),
      wq_(wq),
      poster_(std::make_shared<WorkQueue>(context().environment(), max_wr, max_sge), max_wr) {}

ReceiveWorkQueue::~ReceiveWorkQueue() {
  dispose();
  poster_.queue()->release_references();
}

int ReceiveWorkQueue::destroy() { return ibv_destroy_wq(wq_); }

int ReceiveWorkQueue::destroyed(int) {
  wq_ = nullptr;
  poster_.queue()->release_references();
  cq_->keep_until_polled(poster_.queue());
  return 0;
}

int ReceiveWorkQueue::post_recv(Cursor& cursor, std::uint32_t count) {
  // The inline ibv_post_wq_recv, spelled out: a function of the queue.
  return poster_.post(context(), cursor, count,
                      [&](ibv_recv_wr* first, ibv_recv_wr** bad) { return wq_->post_recv(wq_, first, bad); });
}

namespace {

// createWq(pd, cq, { wqType, maxWr, maxSge, createFlags }): { handle, id, wqNum, maxWr, maxSge } | -errno
Napi::Value create_wq_by(Napi::Env env, const napi_value* arguments, const VendorMake* vendor) {
  const auto pd = take<ProtectionDomain>(env, arguments[0]);
  const auto cq = take<CompletionQueue>(env, arguments[1]);
  if (&pd->context() != &cq->context()) return failure(env, EINVAL);
  const Fields given(Napi::Value(env, arguments[2]));
  const std::uintptr_t id = pd->context().environment().next_id++;
  ibv_wq_init_attr attr{};
  attr.wq_context = reinterpret_cast<void*>(id);
  attr.wq_type = given.number<ibv_wq_type>("wqType");
  attr.max_wr = given.u32("maxWr");
  attr.max_sge = given.u32("maxSge");
  attr.pd = pd->pd();
  attr.cq = cq->cq();
  attr.create_flags = given.u32("createFlags");
  if (attr.create_flags != 0) attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
  const std::uint32_t asked_wr = attr.max_wr;
  const std::uint32_t asked_sge = attr.max_sge;
  if (!can_queue(asked_wr, asked_sge)) return failure(env, EINVAL);
  errno = 0;
  ibv_wq* wq = vendor != nullptr ? (*vendor).operator()<ibv_wq>(pd->context().ctx(), &attr)
                                 : ibv_create_wq(pd->context().ctx(), &attr);
  if (wq == nullptr) return failure(env, creation_error());
  if (vendor != nullptr) {
    // What the inline ibv_create_wq does.
    wq->wq_context = attr.wq_context;
    wq->events_completed = 0;
    pthread_mutex_init(&wq->mutex, nullptr);
    pthread_cond_init(&wq->cond, nullptr);
  }
  const std::uint32_t max_wr = std::max(attr.max_wr, asked_wr);
  const std::uint32_t max_sge = std::max(attr.max_sge, asked_sge);
  const auto queue = own_or<ReceiveWorkQueue>([&] { ibv_destroy_wq(wq); }, pd, cq, wq, max_wr, max_sge);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", static_cast<double>(id));
  result.Set("wqNum", wq->wq_num);
  result.Set("maxWr", max_wr);
  result.Set("maxSge", max_sge);
  result.Set("handle", wrap_object(env, queue));
  return result;
}

Napi::Value create_wq(const Napi::CallbackInfo& info) {
  return create_wq_by(info.Env(), arguments_from(info, 0).data(), nullptr);
}

// modifyWq(wq, { wqState?, currWqState?, flags?, flagsMask? }): 0 | -errno
Napi::Value modify_wq(const Napi::CallbackInfo& info) {
  const auto queue = take<ReceiveWorkQueue>(info, 0);
  const Fields given(info[1]);
  ibv_wq_attr attr{};
  const auto number = [&](const char* name, std::uint32_t bit) -> std::uint32_t {
    const Napi::Value value = given[name];
    if (value.IsUndefined()) return 0;
    attr.attr_mask |= bit;
    return number_of<std::uint32_t>(value);
  };
  attr.wq_state = static_cast<ibv_wq_state>(number("wqState", IBV_WQ_ATTR_STATE));
  attr.curr_wq_state = static_cast<ibv_wq_state>(number("currWqState", IBV_WQ_ATTR_CURR_STATE));
  attr.flags = number("flags", IBV_WQ_ATTR_FLAGS);
  attr.flags_mask = number("flagsMask", IBV_WQ_ATTR_FLAGS);
  const int error = ibv_modify_wq(queue->wq(), &attr);
  if (error == 0 && (attr.attr_mask & IBV_WQ_ATTR_STATE) != 0 && attr.wq_state == IBV_WQS_RESET) queue->forget();
  return failure(info.Env(), error);
}

}  // namespace

Napi::Value ReceiveWorkQueue::create(Napi::Env env, const napi_value* arguments, const VendorMake& vendor) {
  return create_wq_by(env, arguments, &vendor);
}

void ReceiveWorkQueue::init(Napi::Object exports) {
  export_function<create_wq>(exports, "createWq");
  export_function<verbs::core::modify_wq>(exports, "modifyWq");
}

namespace {

// createRwqIndTable(context, queues: wq[]): { handle, indTblNum } | -errno. A power of two of them.
Napi::Value create_rwq_ind_table(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  const auto list = info[1].As<Napi::Array>();
  if (!std::has_single_bit(list.Length())) return failure(env, EINVAL);
  std::vector<std::shared_ptr<Object>> parents{context};
  for (std::uint32_t i = 0; i < list.Length(); i++) {
    const auto queue = take<ReceiveWorkQueue>(env, list.Get(i));
    if (&queue->context() != context.get()) return failure(env, EINVAL);
    parents.push_back(queue);
  }
  // A getter of the list may have closed what was looked up before.
  std::vector<ibv_wq*> queues;
  for (const std::shared_ptr<Object>& each : parents) {
    if (!each->open()) return failure(env, EINVAL);
    if (each != context) queues.push_back(static_cast<ibv_wq*>(each->pointer()));
  }
  ibv_rwq_ind_table_init_attr attr{};
  // A getter of the list may have made it shorter, too.
  if (!std::has_single_bit(queues.size())) return failure(env, EINVAL);
  attr.log_ind_tbl_size = static_cast<std::uint32_t>(std::countr_zero(queues.size()));
  attr.ind_tbl = queues.data();
  errno = 0;
  ibv_rwq_ind_table* table = ibv_create_rwq_ind_table(context->ctx(), &attr);
  if (table == nullptr) return failure(env, creation_error());
  const auto owned = std::make_shared<IndirectionTable>(
      parents, table, [](const Context&, ibv_rwq_ind_table* made) { return ibv_destroy_rwq_ind_table(made); });
  Napi::Object result = Napi::Object::New(env);
  result.Set("indTblNum", table->ind_tbl_num);
  result.Set("handle", wrap_object(env, owned));
  return result;
}

}  // namespace

void init_indirection_table(Napi::Object exports) {
  export_function<create_rwq_ind_table>(exports, "createRwqIndTable");
}

}  // namespace verbs::core
