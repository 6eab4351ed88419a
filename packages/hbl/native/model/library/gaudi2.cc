#include "model/library/gaudi2.h"

#include <cerrno>

namespace verbs::hbl::model {

namespace {

ibv_mr* no_reg_mr(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) { return null_with<ibv_mr>(EOPNOTSUPP); }
ibv_ah* no_create_ah(ibv_pd*, ibv_ah_attr*) { return null_with<ibv_ah>(EOPNOTSUPP); }
// Positive, as libibverbs answers for providers without the function.
int no_poll_cq(ibv_cq*, int, ibv_wc*) { return EOPNOTSUPP; }
int no_req_notify_cq(ibv_cq*, int) { return EOPNOTSUPP; }
int no_post_send(ibv_qp*, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}
int no_post_recv(ibv_qp*, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}

}  // namespace

void remove_gaudi2_verbs(Context& context, verbs_soft_verbs& control) {
  control.reg_mr = no_reg_mr;
  control.create_ah = no_create_ah;
  context.ibv->ops.poll_cq = no_poll_cq;
  context.ibv->ops.req_notify_cq = no_req_notify_cq;
  context.ibv->ops.post_send = no_post_send;
  context.ibv->ops.post_recv = no_post_recv;
}

}  // namespace verbs::hbl::model
