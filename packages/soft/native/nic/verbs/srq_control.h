// The control path of shared receive queues: ibv_create_srq, ibv_modify_srq, ibv_query_srq, ibv_destroy_srq.
#pragma once

#include <infiniband/verbs.h>

#include <utility>

#include "nic/core/core.h"

namespace verbs::soft::nic {

// What a shared receive queue that is not a basic one has beside its attributes.
struct SrqParts {
  Cq* cq = nullptr;  // where its requests complete
  Xrcd* xrcd = nullptr;
  const ibv_tm_cap* tags = nullptr;  // of type TM
};

class SrqControl {
 public:
  explicit SrqControl(Core& core) : core_(core) {}

  // 0, EINVAL (a limit) or ENOMEM. Updates *attr; its limit is ignored, modify() arms it.
  int create(Pd* pd, ibv_srq_attr* attr, void* owner, Srq** srq, const SrqParts& parts = {});
  // 0, or EINVAL: an unknown bit in `mask`, a size that does not hold the posted requests, a limit above the size.
  int modify(Srq* srq, const ibv_srq_attr* attr, int mask);
  int query(const Srq* srq, ibv_srq_attr* attr) const;  // 0
  int destroy(Srq* srq);                                // 0, or EBUSY while QPs use it
  // `visit(srq)` may not create or destroy one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    core_.srqs.for_each(std::forward<Visit>(visit));
  }
  std::size_t count() const { return core_.srqs.size(); }

 private:
  Core& core_;
};

}  // namespace verbs::soft::nic
