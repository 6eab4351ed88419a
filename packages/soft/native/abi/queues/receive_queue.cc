#include "abi/queues/receive_queue.h"

#include <cerrno>
#include <vector>

#include "abi/objects/objects.h"
#include "abi/queues/events.h"
#include "abi/queues/flow.h"
#include "abi/queues/posting.h"

namespace verbs::soft::abi {
namespace {

void release_wq(Wq* wq) {
  of(wq->ibv.context)->handles.remove(&wq->ibv);
  delete wq;
}

int detach(Wq* wq) {
  const int error = control(wq->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.receive_queues().destroy(wq->nic);
    if (failure == 0) wq->live.end();
    if (failure != 0) explain_use(wq->ibv.context, nic, nic::Place::kDestroyWq, failure, wq->nic->holders);
    return failure;
  });
  if (error != 0) return error;
  wq->events.async->forget(&wq->events);
  return 0;
}

// When the context is closed, no thread acknowledges events any more.
void destroy_wq_unacknowledged(void* object) {
  auto* wq = static_cast<Wq*>(object);
  if (detach(wq) == 0) release_wq(wq);
}

void destroy_table(void* object) { destroy_rwq_ind_table(static_cast<ibv_rwq_ind_table*>(object)); }

}  // namespace

// The program's side of libibverbs (an inline function) sets up the mutex and the condition afterwards.
ibv_wq* create_wq(ibv_context* context, ibv_wq_init_attr* attr) {
  Uses uses;
  if (const int error = uses.add(context)) return null_with<ibv_wq>(error);
  int error = use_with(uses, attr->pd, context, ENOENT);
  if (error == 0) error = use_with(uses, attr->cq, context, ENOENT);
  if (error == 0) error = check_privilege(context);
  if (error != 0) return null_with<ibv_wq>(error);
  auto wq = std::make_unique<Wq>();
  ibv_wq& ibv = wq->ibv;
  Handles::Place place(of(context)->handles, &ibv, Kind::kWq, destroy_wq_unacknowledged);
  wq->events.ibv = &ibv;
  wq->events.async = &of(context)->async;
  error = control(context, [&](nic::Nic& nic, link::Nanos) {
    const nic::QpParts parts{.pd = of(attr->pd)->nic, .send_cq = of(attr->cq)->nic, .recv_cq = of(attr->cq)->nic};
    return nic.receive_queues().create(parts, attr, &wq->events, &wq->nic);
  });
  if (error != 0) return null_with<ibv_wq>(error);
  ibv.context = context;
  ibv.wq_context = attr->wq_context;
  ibv.pd = attr->pd;
  ibv.cq = attr->cq;
  ibv.wq_num = wq->nic->number;
  ibv.handle = place.handle();
  ibv.state = IBV_WQS_RESET;
  ibv.wq_type = attr->wq_type;
  ibv.post_recv = post_wq_recv;
  wq->live.begin(of(context)->adapter, wq->nic);
  place.publish(users_of(attr->pd));
  return &wq.release()->ibv;
}

int modify_wq(ibv_wq* ibv, ibv_wq_attr* attr) {
  Uses uses;
  if (const int error = uses.add(ibv)) return error;
  if (!attr) return EINVAL;
  return control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
    const int error = nic.receive_queues().modify(of(ibv)->nic, *attr);
    ibv->state = nic::wq_state_of(*of(ibv)->nic);
    return error;
  });
}

int destroy_wq(ibv_wq* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Wq* wq = of(ibv);
  if (const int error = detach(wq)) return error;
  const auto is_acknowledged = [&] { return ibv->events_completed == wq->events.async_reported; };
  release_acknowledged(*ibv, is_acknowledged, [&] { release_wq(wq); });
  return 0;
}

ibv_rwq_ind_table* create_rwq_ind_table(ibv_context* context, ibv_rwq_ind_table_init_attr* attr) {
  Uses uses;
  if (const int error = uses.add(context)) return null_with<ibv_rwq_ind_table>(error);
  if (!of(context)->device->has_raw_packets()) return null_with<ibv_rwq_ind_table>(EOPNOTSUPP);
  if (!attr || attr->comp_mask != 0 || attr->log_ind_tbl_size > 31 ||
      1u << attr->log_ind_tbl_size > nic::kMaxIndirection || !attr->ind_tbl) {
    return null_with<ibv_rwq_ind_table>(EINVAL);
  }
  const std::size_t size = std::size_t{1} << attr->log_ind_tbl_size;
  for (std::size_t i = 0; i < size; ++i) {
    Uses one;
    if (const int error = use_with(one, attr->ind_tbl[i], context)) return null_with<ibv_rwq_ind_table>(error);
  }
  auto table = std::make_unique<IndTable>();
  Handles::Place place(of(context)->handles, &table->ibv, Kind::kIndTable, destroy_table);
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    std::vector<nic::Qp*> queues;
    // Another thread may have destroyed one since; its structure lingers.
    for (std::size_t i = 0; i < size; ++i) queues.push_back(of(attr->ind_tbl[i])->live.nic);
    for (const nic::Qp* queue : queues) {
      if (!queue) return EINVAL;
    }
    return nic.receive_queues().make_table(queues, &table->nic);
  });
  if (error != 0) return null_with<ibv_rwq_ind_table>(error);
  const auto number = static_cast<int>(place.handle());
  table->ibv = {.context = context, .ind_tbl_handle = number, .ind_tbl_num = number, .comp_mask = 0};
  place.publish();
  return &table.release()->ibv;
}

int destroy_rwq_ind_table(ibv_rwq_ind_table* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  ibv_context* context = ibv->context;
  IndTable* table = of(ibv);
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.receive_queues().release_table(&table->nic);
    if (failure != 0) explain_use(context, nic, nic::Place::kDestroyIndTable, failure, table->nic.users);
    return failure;
  });
  if (error != 0) return error;
  of(context)->handles.remove(ibv);
  delete table;
  return 0;
}

}  // namespace verbs::soft::abi
