#include "nic/device/receive_queue.h"

namespace verbs::soft::nic {
namespace {

RecvQueue& queue_of(Qp& qp) { return qp.srq != nullptr ? qp.srq->queue : qp.rq; }

}  // namespace

const RecvWqe* next_recv(Qp& qp) {
  RecvQueue& queue = queue_of(qp);
  return queue.empty() ? nullptr : &queue.at(queue.head);
}

bool take_recv(Core& core, Qp& qp) {
  RecvQueue& queue = queue_of(qp);
  if (queue.empty()) return false;
  if (qp.srq == nullptr) {
    qp.recv = {&queue.at(queue.head), queue.sges(queue.head), qp.pd, nullptr};
    return true;
  }
  qp.srq->take(&qp.held_wqe, qp.held_sges.data(), core.events);
  qp.recv = {&qp.held_wqe, qp.held_sges.data(), qp.srq->pd, qp.srq};
  return true;
}

}  // namespace verbs::soft::nic
