#include "receive.h"

namespace verbs::soft::nic {

const RecvWqe* next_recv(Qp& qp) { return qp.rq.empty() ? nullptr : &qp.rq.at(qp.rq.head); }

bool take_recv(Qp& qp) {
  const RecvWqe* wqe = next_recv(qp);
  if (wqe == nullptr) return false;
  qp.recv = {wqe, qp.rq.sges(qp.rq.head), qp.pd};
  return true;
}

}  // namespace verbs::soft::nic
