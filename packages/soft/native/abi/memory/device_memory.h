// Device memory: the calls behind the slots of the context.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace verbs::soft::abi {

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr);
int free_dm(ibv_dm* dm);
// Zero based: `access` has IBV_ACCESS_ZERO_BASED, and addresses count from `offset` of the memory.
ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length, unsigned access);
ibv_dm* import_dm(ibv_context* context, std::uint32_t handle);

}  // namespace verbs::soft::abi
