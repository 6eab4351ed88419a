#include "abi/qp/data_path.h"

#include "abi/objects/objects.h"

namespace verbs::soft::abi {

// A failed allocation of a model's steering or link ends here.
int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) {
  return contain([&] { return of(cq)->adapter->data_path.poll(of(cq)->nic, count, wc); },
                 [](int error) { return -error; });
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  return verb([&] {
    Cq* object = of(cq);
    return object->adapter->data_path.req_notify(object->nic, solicited_only != 0, object->events.channel);
  });
}

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  return verb([&] { return of(qp)->adapter->data_path.post_send(of(qp)->nic, wr, bad_wr); });
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return verb([&] { return of(qp)->adapter->data_path.post_recv(of(qp)->nic, wr, bad_wr); });
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return verb([&] { return of(srq)->adapter->data_path.post_srq_recv(of(srq)->nic, wr, bad_wr); });
}

}  // namespace verbs::soft::abi
