// Where devices differ and programs see it: the rules of adapters under libmlx5, or those of the kernel's soft-RoCE.
// docs/devices.md says where each is from.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>

namespace verbs::soft::nic {

struct Rules {
  static constexpr Rules mlx5() { return {}; }
  static constexpr Rules rxe() {
    return {.slots_until_polled = false,
            .short_datagrams_fail = false,
            .alignment_before_key = false,
            .posts_need_alignment = true,
            .any_domains_handle = false,
            .bound_region_error = EINVAL,
            .failed_invalidate = IBV_WC_LOC_QP_OP_ERR};
  }

  bool slots_until_polled = true;     // else until a request was executed
  bool short_datagrams_fail = true;   // a receive request too short for a datagram; else the datagram is dropped
  bool alignment_before_key = true;   // the responder of an atomic looks at the address first
  bool posts_need_alignment = false;  // an atomic without alignment is refused at the post
  bool any_domains_handle = true;     // a datagram may use an address handle of another protection domain
  int bound_region_error = EBUSY;     // of deregistering a region with bound windows
  ibv_wc_status failed_invalidate = IBV_WC_MW_BIND_ERR;
  bool strict = false;  // the specification before the device: what would go wrong unseen fails
};

}  // namespace verbs::soft::nic
