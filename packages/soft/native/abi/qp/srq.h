// Shared receive queues: the calls behind the slots of the context.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::soft::abi {

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr);
int get_srq_num(ibv_srq* srq, std::uint32_t* srq_num);

}  // namespace verbs::soft::abi
