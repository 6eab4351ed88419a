// The data path that applications call: posting work requests. Nothing here allocates, and nothing is sent: the
// scheduler does that (nic.h).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "nic/core/core.h"

namespace verbs::soft::nic {

// Each call returns 0, or EINVAL (state, opcode, number of SGEs, inline size, address handle), ENOMEM (the queue is
// full) or EFAULT (inline data that is not mapped). With `bad_wr` the requests before *bad_wr are posted.
class DataPath {
 public:
  explicit DataPath(Core& core) : core_(core) {}

  int post_send(Qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);
  int post_batch(Qp* qp, ibv_send_wr* wr);  // all of the requests or none
  // Posts the bind of a type 1 window (ibv_bind_mw). `rkey` is the window's next key.
  int post_bind(Qp* qp, const ibv_mw_bind* bind, std::uint32_t rkey);
  int post_recv(Qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int post_srq_recv(Srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  // Operations on the tagged buffers of a queue of type TM, which are done at once. Sets the handle of what is added.
  // EINVAL (no such queue, opcode, flags, number of SGEs, a handle that no buffer has had), or ENOMEM (the list is
  // full, or too many completions of operations were not polled).
  int post_srq_ops(Srq* srq, ibv_ops_wr* wr, ibv_ops_wr** bad_wr);

 private:
  Core& core_;
};

}  // namespace verbs::soft::nic
