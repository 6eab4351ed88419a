// The control verbs that a vendor's model may replace. The exported functions call the table of their context, which is
// a copy of kControlVerbs until the model changes it.
#pragma once

#include <cstdint>

#include "verbs_soft_extension.h"

extern "C" {

int soft_query_device(ibv_context* context, ibv_device_attr* attr);
ibv_pd* soft_alloc_pd(ibv_context* context);
ibv_mr* soft_reg_mr(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova, unsigned access);
ibv_ah* soft_create_ah(ibv_pd* pd, ibv_ah_attr* attr);
ibv_cq* soft_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector);
int soft_destroy_cq(ibv_cq* cq);
ibv_qp* soft_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr);
int soft_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask);
int soft_destroy_qp(ibv_qp* qp);

}  // extern "C"

namespace verbs::soft::abi {

inline constexpr verbs_soft_verbs kControlVerbs = {
    .query_device = soft_query_device,
    .alloc_pd = soft_alloc_pd,
    .reg_mr = soft_reg_mr,
    .create_ah = soft_create_ah,
    .create_cq = soft_create_cq,
    .destroy_cq = soft_destroy_cq,
    .create_qp = soft_create_qp,
    .modify_qp = soft_modify_qp,
    .destroy_qp = soft_destroy_qp,
};

}  // namespace verbs::soft::abi
