#include "nic/device/receive_request.h"

#include "nic/device/scatter.h"

namespace verbs::soft::nic {
namespace {

RecvQueue& queue_of(Qp& qp) { return qp.srq != nullptr ? qp.srq->queue : qp.rq; }

}  // namespace

const RecvWqe* peek_recv(Qp& qp) {
  RecvQueue& queue = queue_of(qp);
  return queue.empty() ? nullptr : &queue.at(queue.head);
}

bool dequeue_recv(Core& core, Qp& qp) {
  RecvQueue& queue = queue_of(qp);
  if (queue.empty()) return false;
  if (qp.srq == nullptr) {
    qp.recv = {&queue.at(queue.head), queue.sges(queue.head), qp.pd, nullptr};
    return true;
  }
  qp.srq->dequeue(&qp.srq_wqe, qp.srq_sges.data(), core.events);
  qp.recv = {&qp.srq_wqe, qp.srq_sges.data(), qp.srq->pd, qp.srq};
  return true;
}

bool write_to_recv(const Core& core, const Qp& qp, std::size_t offset, std::span<const std::uint8_t> bytes) {
  const CurrentRecv& recv = qp.recv;
  if (recv.wqe->num_sge == 1 && offset == 0 && bytes.size() <= recv.sges->length && !bytes.empty()) {
    const Mr* mr = core.mrs.find(recv.sges->lkey, recv.pd, IBV_ACCESS_LOCAL_WRITE);
    return mr != nullptr && mr->write(recv.sges->addr, bytes.data(), bytes.size());
  }
  return scatter(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, offset, bytes.data(), bytes.size());
}

}  // namespace verbs::soft::nic
