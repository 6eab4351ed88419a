#include "model/device/cq.h"

#include "model/device/context.h"

namespace verbs::hbl::model {

namespace {

constexpr int kBatch = 16;

void write_entry(Cq& cq, const ibv_wc& wc, std::uint32_t tag) {
  hbl_cqe& entry = cq.entries.as<hbl_cqe>()[cq.index % cq.capacity()];
  entry = {wc.qp_num, tag, wc.byte_len, static_cast<std::uint8_t>(wc.status), static_cast<std::uint8_t>(wc.opcode), 0};
  ++cq.index;
  __atomic_store_n(cq.producer.as<std::uint32_t>(), cq.index, __ATOMIC_RELEASE);
}

// A queue pair that is being destroyed has left the list already, and takes all that it had outstanding with it.
Qp* find(Context& context, std::uint32_t number) {
  for (const auto& [ibv, qp] : context.qps) {
    if (ibv->qp_num == number) return qp.get();
  }
  return nullptr;
}

void push_ready(Cq& cq, const ibv_wc& wc) {
  cq.ready[(cq.ready_head + cq.ready_count) % cq.capacity()] = wc;
  if (cq.ready_count < cq.capacity()) {
    ++cq.ready_count;
  } else {
    cq.ready_head = (cq.ready_head + 1) % cq.capacity();
  }
}

}  // namespace

void move_completions(Context& context, Cq& cq) {
  ibv_wc completions[kBatch];
  int found = 0;
  Qp* qp = nullptr;
  do {
    found = context.base_ops.poll_cq(cq.ibv, kBatch, completions);
    for (int i = 0; i < found; ++i) {
      const ibv_wc& wc = completions[i];
      const bool mapped = wc.wr_id >> 32 == kMappedQueue >> 32;
      if (mapped && (!qp || qp->ibv->qp_num != wc.qp_num)) qp = find(context, wc.qp_num);
      if (mapped && qp && qp->outstanding > 0) --qp->outstanding, --cq.outstanding;
      write_entry(cq, wc, mapped ? static_cast<std::uint32_t>(wc.wr_id) : 0);
      push_ready(cq, wc);
    }
  } while (found == kBatch);
}

void expect_completion(Context& context, Qp& qp) {
  const auto cq = context.cqs.find(qp.ibv->send_cq);
  if (cq == context.cqs.end()) return;
  ++qp.outstanding;
  ++cq->second->outstanding;
}

void expect_no_more(Context& context, Qp& qp, const ibv_cq* cq) {
  if (const auto found = context.cqs.find(cq); found != context.cqs.end()) {
    found->second->outstanding -= qp.outstanding;
  }
  qp.outstanding = 0;
}

}  // namespace verbs::hbl::model
