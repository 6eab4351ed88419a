#include "kernel/write_commands.h"

#include <rdma/ib_user_verbs.h>

#include "kernel/write/handlers.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint32_t extended(std::uint32_t number) { return number | IB_USER_VERBS_CMD_FLAG_EXTENDED; }

// `addresses`: of what is not the response, whose address comes first in every request of the plain form.
template <class Request, class Response>
WriteCommand command(std::uint32_t number, const char* name, int (*run)(Call&), Type makes = Type::kNone,
                     Addresses addresses = {}) {
  if ((number & IB_USER_VERBS_CMD_FLAG_EXTENDED) == 0) addresses.push_back(0);
  return {number, name, sizeof(Request), sizeof(Response), run, makes, addresses};
}

template <class Request>
WriteCommand command(std::uint32_t number, const char* name, int (*run)(Call&), Type makes = Type::kNone) {
  return {number, name, sizeof(Request), 0, run, makes, {}};
}

const WriteCommand kCommands[] = {
    command<ib_uverbs_get_context, ib_uverbs_get_context_resp>(IB_USER_VERBS_CMD_GET_CONTEXT, "GET_CONTEXT",
                                                               get_context),
    command<ib_uverbs_query_device, ib_uverbs_query_device_resp>(IB_USER_VERBS_CMD_QUERY_DEVICE, "QUERY_DEVICE",
                                                                 query_device),
    command<ib_uverbs_query_port, ib_uverbs_query_port_resp>(IB_USER_VERBS_CMD_QUERY_PORT, "QUERY_PORT", query_port),
    command<ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp>(IB_USER_VERBS_CMD_ALLOC_PD, "ALLOC_PD", alloc_pd, Type::kPd),
    command<ib_uverbs_dealloc_pd>(IB_USER_VERBS_CMD_DEALLOC_PD, "DEALLOC_PD", dealloc_pd),
    command<ib_uverbs_create_ah, ib_uverbs_create_ah_resp>(IB_USER_VERBS_CMD_CREATE_AH, "CREATE_AH", create_ah,
                                                           Type::kAh, {8}),
    command<ib_uverbs_destroy_ah>(IB_USER_VERBS_CMD_DESTROY_AH, "DESTROY_AH", destroy_ah),
    command<ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp>(IB_USER_VERBS_CMD_REG_MR, "REG_MR", reg_mr, Type::kMr, {8, 24}),
    command<ib_uverbs_rereg_mr, ib_uverbs_rereg_mr_resp>(IB_USER_VERBS_CMD_REREG_MR, "REREG_MR", rereg_mr, Type::kMr,
                                                         {16, 32}),
    command<ib_uverbs_dereg_mr>(IB_USER_VERBS_CMD_DEREG_MR, "DEREG_MR", dereg_mr),
    command<ib_uverbs_alloc_mw, ib_uverbs_alloc_mw_resp>(IB_USER_VERBS_CMD_ALLOC_MW, "ALLOC_MW", alloc_mw, Type::kMw),
    command<ib_uverbs_dealloc_mw>(IB_USER_VERBS_CMD_DEALLOC_MW, "DEALLOC_MW", dealloc_mw),
    command<ib_uverbs_create_comp_channel, ib_uverbs_create_comp_channel_resp>(
        IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "CREATE_COMP_CHANNEL", create_comp_channel),
    command<ib_uverbs_create_cq, ib_uverbs_create_cq_resp>(IB_USER_VERBS_CMD_CREATE_CQ, "CREATE_CQ", create_cq_legacy,
                                                           Type::kCq, {8}),
    command<ib_uverbs_resize_cq, ib_uverbs_resize_cq_resp>(IB_USER_VERBS_CMD_RESIZE_CQ, "RESIZE_CQ", resize_cq,
                                                           Type::kNewSize),
    command<ib_uverbs_req_notify_cq>(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, "REQ_NOTIFY_CQ", req_notify_cq),
    command<ib_uverbs_destroy_cq, ib_uverbs_destroy_cq_resp>(IB_USER_VERBS_CMD_DESTROY_CQ, "DESTROY_CQ", destroy_cq),
    command<ib_uverbs_create_qp, ib_uverbs_create_qp_resp>(IB_USER_VERBS_CMD_CREATE_QP, "CREATE_QP", create_qp_legacy,
                                                           Type::kQp, {8}),
    command<ib_uverbs_query_qp, ib_uverbs_query_qp_resp>(IB_USER_VERBS_CMD_QUERY_QP, "QUERY_QP", query_qp),
    command<ib_uverbs_modify_qp>(IB_USER_VERBS_CMD_MODIFY_QP, "MODIFY_QP", modify_qp),
    command<ib_uverbs_destroy_qp, ib_uverbs_destroy_qp_resp>(IB_USER_VERBS_CMD_DESTROY_QP, "DESTROY_QP", destroy_qp),
    command<ib_uverbs_post_send, ib_uverbs_post_send_resp>(IB_USER_VERBS_CMD_POST_SEND, "POST_SEND", post_send),
    command<ib_uverbs_attach_mcast>(IB_USER_VERBS_CMD_ATTACH_MCAST, "ATTACH_MCAST", attach_mcast),
    command<ib_uverbs_detach_mcast>(IB_USER_VERBS_CMD_DETACH_MCAST, "DETACH_MCAST", attach_mcast),
    command<ib_uverbs_create_srq, ib_uverbs_create_srq_resp>(IB_USER_VERBS_CMD_CREATE_SRQ, "CREATE_SRQ", create_srq,
                                                             Type::kSrq, {8}),
    command<ib_uverbs_create_xsrq, ib_uverbs_create_srq_resp>(IB_USER_VERBS_CMD_CREATE_XSRQ, "CREATE_XSRQ", create_xsrq,
                                                              Type::kSrq, {8}),
    command<ib_uverbs_modify_srq>(IB_USER_VERBS_CMD_MODIFY_SRQ, "MODIFY_SRQ", modify_srq, Type::kNewSize),
    command<ib_uverbs_query_srq, ib_uverbs_query_srq_resp>(IB_USER_VERBS_CMD_QUERY_SRQ, "QUERY_SRQ", query_srq),
    command<ib_uverbs_destroy_srq, ib_uverbs_destroy_srq_resp>(IB_USER_VERBS_CMD_DESTROY_SRQ, "DESTROY_SRQ",
                                                               destroy_srq),
    command<ib_uverbs_open_xrcd, ib_uverbs_open_xrcd_resp>(IB_USER_VERBS_CMD_OPEN_XRCD, "OPEN_XRCD", open_xrcd,
                                                           Type::kXrcd),
    command<ib_uverbs_close_xrcd>(IB_USER_VERBS_CMD_CLOSE_XRCD, "CLOSE_XRCD", close_xrcd),

    command<ib_uverbs_ex_query_device, ib_uverbs_ex_query_device_resp>(extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE),
                                                                       "EX_QUERY_DEVICE", query_device_ex),
    command<ib_uverbs_ex_create_cq, ib_uverbs_ex_create_cq_resp>(extended(IB_USER_VERBS_EX_CMD_CREATE_CQ),
                                                                 "EX_CREATE_CQ", create_cq_ex, Type::kCq, {0}),
    command<ib_uverbs_ex_create_qp, ib_uverbs_ex_create_qp_resp>(extended(IB_USER_VERBS_EX_CMD_CREATE_QP),
                                                                 "EX_CREATE_QP", create_qp_ex, Type::kQp, {0}),
    command<ib_uverbs_ex_modify_qp, ib_uverbs_ex_modify_qp_resp>(extended(IB_USER_VERBS_EX_CMD_MODIFY_QP),
                                                                 "EX_MODIFY_QP", modify_qp_ex),
    command<ib_uverbs_ex_create_wq, ib_uverbs_ex_create_wq_resp>(extended(IB_USER_VERBS_EX_CMD_CREATE_WQ),
                                                                 "EX_CREATE_WQ", create_wq, Type::kWq, {8}),
    command<ib_uverbs_ex_modify_wq>(extended(IB_USER_VERBS_EX_CMD_MODIFY_WQ), "EX_MODIFY_WQ", modify_wq),
    command<ib_uverbs_ex_destroy_wq, ib_uverbs_ex_destroy_wq_resp>(extended(IB_USER_VERBS_EX_CMD_DESTROY_WQ),
                                                                   "EX_DESTROY_WQ", destroy_wq),
    command<ib_uverbs_ex_create_rwq_ind_table, ib_uverbs_ex_create_rwq_ind_table_resp>(
        extended(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL), "EX_CREATE_RWQ_IND_TBL", create_indirection_table,
        Type::kIndirectionTable),
    command<ib_uverbs_ex_destroy_rwq_ind_table>(extended(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL),
                                                "EX_DESTROY_RWQ_IND_TBL", destroy_indirection_table),
    command<ib_uverbs_ex_modify_cq>(extended(IB_USER_VERBS_EX_CMD_MODIFY_CQ), "EX_MODIFY_CQ", modify_cq),
    command<ib_uverbs_create_flow, ib_uverbs_create_flow_resp>(extended(IB_USER_VERBS_EX_CMD_CREATE_FLOW),
                                                               "EX_CREATE_FLOW", create_flow, Type::kFlow),
    command<ib_uverbs_destroy_flow>(extended(IB_USER_VERBS_EX_CMD_DESTROY_FLOW), "EX_DESTROY_FLOW", destroy_flow),
};

}  // namespace

const WriteCommand* find_write_command(std::uint32_t number) {
  for (const WriteCommand& command : kCommands) {
    if (command.number == number) return &command;
  }
  return nullptr;
}

}  // namespace verbs::uverbs
