// The control path of queue pairs: ibv_create_qp, ibv_modify_qp, ibv_query_qp, ibv_destroy_qp, and the settings
// of vendor models.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>

#include "nic/core/core.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

// The objects that a QP is made of.
struct QpParts {
  Pd* pd = nullptr;
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  Srq* srq = nullptr;              // nullptr: a receive queue of its own
  Xrcd* xrcd = nullptr;            // an XRC target has only this one; an XRC initiator has no recv_cq
  const Spread* spread = nullptr;  // RAW_PACKET: instead of the CQs and the queues
};

class QpControl {
 public:
  explicit QpControl(Core& core) : core_(core) {}

  // `owner` is the caller's own pointer. Updates attr->cap. 0, EINVAL (a part is missing, a limit), EOPNOTSUPP (no such
  // QP type) or ENOMEM.
  int create(const QpParts& parts, ibv_qp_init_attr* attr, void* owner, Qp** qp);
  // 0, or EINVAL: a transition that the state machine does not have (qp_transitions.h), or an attribute out of range.
  // EOPNOTSUPP: a queue pair without states.
  int modify(Qp* qp, const ibv_qp_attr* attr, int mask);
  // Leaves the pd, cq and srq pointers of *init_attr alone. 0.
  int query(const Qp* qp, ibv_qp_attr* attr, ibv_qp_init_attr* init_attr) const;
  int destroy(Qp* qp);  // 0, or EBUSY: multicast groups, flows or tables have it

  // The operations of `mask` (CompletionCounter::Operation) count there until the QP is destroyed. EINVAL: the QP is
  // not in RESET or INIT, or counts one of them elsewhere; EOPNOTSUPP: an operation that cannot be counted.
  int attach_counter(Qp* qp, CompletionCounter* counter, std::uint32_t mask);

  // The XRC target QP with that number. EINVAL if it is not in the domain.
  int find_target(const Xrcd* xrcd, std::uint32_t number, Qp** qp) const;
  // Gives a QP in RESET a number of the caller's choice. EINVAL: in another state, a number above 0xfffffe, or one that
  // create() may give out. EADDRINUSE: the number is taken.
  int renumber(Qp* qp, std::uint32_t number);
  // The UDP source port of an RC or UC QP in RTS, otherwise EINVAL. EOPNOTSUPP: the link has one for all packets.
  int set_source_port(Qp* qp, std::uint16_t port);
  // The tunnel by which the requests (or the responses) of an RC QP leave and must arrive; nullptr: plain RoCE v2.
  void set_tunnel(Qp* qp, bool requests, std::shared_ptr<const wire::Tunnel> tunnel);
  // Whether a RAW_PACKET QP receives frames that its port sent to its own address. EINVAL for any other QP.
  int set_self_loopback(Qp* qp, bool allowed);
  // `visit(qp)` may not create or destroy one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    core_.qps.for_each(std::forward<Visit>(visit));
  }
  std::size_t count() const { return core_.qps.size(); }

 private:
  Core& core_;
};

}  // namespace verbs::soft::nic
