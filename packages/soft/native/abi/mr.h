// Memory regions: the calls that programs reach through slots of the context.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::soft::abi {

ibv_mr* alloc_null_mr(ibv_pd* pd);
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* sg_list, std::uint32_t num_sge);

}  // namespace verbs::soft::abi
