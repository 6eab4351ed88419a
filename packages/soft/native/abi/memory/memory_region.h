// Memory regions: the calls behind the slots of the context.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "nic/nic.h"

namespace verbs::soft::abi {

// A region of the live domain `pd`. `reg` creates the NIC's region under the device's lock. `may_rereg`: the region can
// be re-registered.
using RegisterMr = std::function<int(nic::Nic& nic, nic::Mr** mr)>;
ibv_mr* make_mr(ibv_pd* pd, void* addr, std::size_t length, bool may_rereg, const RegisterMr& reg);

ibv_mr* alloc_null_mr(ibv_pd* pd);
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* sg_list, std::uint32_t num_sge);

// Memory windows: the calls behind the slots of the context.

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int dealloc_mw(ibv_mw* mw);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);

}  // namespace verbs::soft::abi
