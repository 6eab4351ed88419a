// hbldv_create_cq, hbldv_query_cq, and the ordinary verbs of completion queues.
#include "model/verbs/cq.h"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace verbs::hbl::model {

namespace {

constexpr int kMinCqes = 4;

Cq* cq_of(ibv_cq* verbs) { return static_cast<Cq*>(soft()->get_data(verbs, VERBS_SOFT_CQ)); }

// The completions of a mapped queue come from `ready`: the worker moves them there too.
int poll_cq(ibv_cq* verbs, int count, ibv_wc* wc) {
  Cq* cq = cq_of(verbs);
  Context* context = static_cast<Context*>(soft()->get_data(verbs->context, VERBS_SOFT_CONTEXT));
  if (!cq) return context->base_ops.poll_cq(verbs, count, wc);
  const std::lock_guard guard(context->mutex);
  move_completions(*context, *cq);
  int found = 0;
  while (found < count && cq->ready_count > 0) {
    wc[found++] = cq->ready[cq->ready_head];
    cq->ready_head = (cq->ready_head + 1) % cq->capacity();
    --cq->ready_count;
  }
  return found;
}

// ibv_create_cq() makes a queue of all ports. The kernel of a gaudi2 has none for this library.
ibv_cq* no_create_cq(ibv_context*, int, void*, ibv_comp_channel*, int) { return null_with<ibv_cq>(EOPNOTSUPP); }

int destroy_cq(ibv_cq* verbs) {
  Context* context = context_of(verbs->context);
  decltype(context->cqs)::node_type entry;
  {
    // Remove it from the worker first. Destroying waits until events are acknowledged, so not under the lock: a thread
    // may poll before it acknowledges. The queue of a queue pair is refused at once, and the worker goes on with it.
    const std::lock_guard guard(context->mutex);
    const bool in_use = std::ranges::any_of(context->qps, [verbs](const auto& each) {
      return each.first->send_cq == verbs || each.first->recv_cq == verbs;
    });
    if (in_use) return context->base.destroy_cq(verbs);
    entry = context->cqs.extract(verbs);
  }
  const int error = context->base.destroy_cq(verbs);
  if (!entry) return error;
  const std::lock_guard guard(context->mutex);
  if (error != 0) {
    context->cqs.insert(std::move(entry));
    return error;
  }
  const Cq* cq = entry.mapped().get();
  if (cq->page) RegisterPage::free(cq->page);
  Port& port = context->port(cq->port_num);
  if (cq->type == HBLDV_CQ_TYPE_CC) {
    port.has_cc_cq = false;
  } else {
    --port.cqs;
  }
  return 0;
}

int check(Context& context, int cqe, const hbldv_cq_attr& attr) {
  if (const int error = context.check_port(attr.port_num, false)) return error;
  const Port& port = context.port(attr.port_num);
  if (attr.cq_type != HBLDV_CQ_TYPE_QP && attr.cq_type != HBLDV_CQ_TYPE_CC) return EINVAL;
  if (cqe < 1 || static_cast<std::uint32_t>(cqe) > kMaxCqes) return EINVAL;
  if (attr.cq_type == HBLDV_CQ_TYPE_QP) return port.cqs == kCqsPerPort ? EBUSY : 0;
  if (!port.set) return EPERM;
  if (!port.advanced) return EOPNOTSUPP;
  return port.has_cc_cq ? EBUSY : 0;
}

}  // namespace

void install_cq_verbs(Context& context, verbs_soft_verbs& control) {
  context.ibv->ops.poll_cq = poll_cq;
  control.destroy_cq = destroy_cq;
  if (context.profile == Profile::kGaudi2) control.create_cq = no_create_cq;
}

ibv_cq* hbldv_create_cq(ibv_context* verbs, int cqe, ibv_comp_channel* channel, int comp_vector, hbldv_cq_attr* attr) {
  if (!verbs) return null_with<ibv_cq>(EINVAL);
  Context* context = context_of(verbs);
  if (!context) return null_with<ibv_cq>(EOPNOTSUPP);
  if (!attr) return null_with<ibv_cq>(EINVAL);
  const std::lock_guard guard(context->mutex);
  if (const int error = check(*context, cqe, *attr)) return null_with<ibv_cq>(error);
  const std::uint32_t entries = std::bit_ceil(static_cast<std::uint32_t>(std::max(cqe, kMinCqes)));
  auto owned = std::make_unique<Cq>();
  Cq* cq = owned.get();
  if (!cq->entries.allocate(std::size_t{entries} * kCqeSize) || !cq->producer.allocate(sizeof(std::uint32_t))) {
    return null_with<ibv_cq>(ENOMEM);
  }
  cq->ready.resize(entries);
  Entry<decltype(context->cqs)> entry(std::move(owned));
  ibv_cq* ibv = context->base.create_cq(verbs, static_cast<int>(entries), nullptr, channel, comp_vector);
  if (!ibv) return nullptr;
  cq->ibv = ibv;
  cq->port_num = attr->port_num;
  cq->type = attr->cq_type;
  cq->number = context->next_cq_number++;
  cq->page = RegisterPage::allocate(*soft());
  Port& port = context->port(attr->port_num);
  if (cq->type == HBLDV_CQ_TYPE_CC) {
    port.has_cc_cq = true;
  } else {
    ++port.cqs;
  }
  soft()->set_data(ibv, VERBS_SOFT_CQ, cq, nullptr);
  entry.add(context->cqs, ibv);
  return ibv;
}

int hbldv_query_cq(ibv_cq* verbs, hbldv_query_cq_attr* attr) {
  if (!verbs) return EINVAL;
  Context* context = context_of(verbs->context);
  if (!context) return EOPNOTSUPP;
  if (!attr) return EINVAL;
  const std::lock_guard guard(context->mutex);
  *attr = {};
  attr->ibvcq = verbs;
  const auto found = context->cqs.find(verbs);
  if (found == context->cqs.end()) return 0;  // of ibv_create_cq(): no buffer is mapped
  const Cq& cq = *found->second;
  attr->mem_cpu_addr = cq.entries.as();
  attr->pi_cpu_addr = cq.producer.as();
  attr->regs_cpu_addr = cq.page ? cq.page->address() : reinterpret_cast<void*>(-1);
  attr->cq_size = cq.capacity() * kCqeSize;
  attr->cq_num = cq.number;
  attr->cq_type = cq.type;
  return 0;
}

}  // namespace verbs::hbl::model
