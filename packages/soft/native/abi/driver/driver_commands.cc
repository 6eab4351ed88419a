// The kernel commands that rdma-core's drivers send through libibverbs. Our contexts have no kernel device: every
// command fails as on a kernel without it (EOPNOTSUPP), and nothing is read or written.
#include <infiniband/verbs.h>

#include <cerrno>

extern "C" {

// The arguments differ and are not read: in this calling convention the caller removes them from the stack.
#define VERBS_REFUSED_COMMAND(name) \
  int ibv_cmd_##name() { return EOPNOTSUPP; }

VERBS_REFUSED_COMMAND(get_context)
VERBS_REFUSED_COMMAND(query_context)
VERBS_REFUSED_COMMAND(query_device_any)
VERBS_REFUSED_COMMAND(query_port)
VERBS_REFUSED_COMMAND(query_port_speed)

VERBS_REFUSED_COMMAND(alloc_pd)
VERBS_REFUSED_COMMAND(dealloc_pd)
VERBS_REFUSED_COMMAND(open_xrcd)
VERBS_REFUSED_COMMAND(close_xrcd)
VERBS_REFUSED_COMMAND(reg_mr)
VERBS_REFUSED_COMMAND(reg_mr_ex)
VERBS_REFUSED_COMMAND(rereg_mr)
VERBS_REFUSED_COMMAND(dereg_mr)
VERBS_REFUSED_COMMAND(reg_dmabuf_mr)
VERBS_REFUSED_COMMAND(reg_dm_mr)
VERBS_REFUSED_COMMAND(query_mr)
VERBS_REFUSED_COMMAND(advise_mr)
VERBS_REFUSED_COMMAND(alloc_mw)
VERBS_REFUSED_COMMAND(dealloc_mw)
VERBS_REFUSED_COMMAND(alloc_dm)
VERBS_REFUSED_COMMAND(free_dm)
VERBS_REFUSED_COMMAND(export_dmabuf_fd)
VERBS_REFUSED_COMMAND(alloc_dmah)
VERBS_REFUSED_COMMAND(free_dmah)

VERBS_REFUSED_COMMAND(create_cq)
VERBS_REFUSED_COMMAND(create_cq_ex)
VERBS_REFUSED_COMMAND(create_cq_ex2)
VERBS_REFUSED_COMMAND(modify_cq)
VERBS_REFUSED_COMMAND(resize_cq)
VERBS_REFUSED_COMMAND(destroy_cq)
VERBS_REFUSED_COMMAND(req_notify_cq)
VERBS_REFUSED_COMMAND(create_srq)
VERBS_REFUSED_COMMAND(create_srq_ex)
VERBS_REFUSED_COMMAND(modify_srq)
VERBS_REFUSED_COMMAND(query_srq)
VERBS_REFUSED_COMMAND(destroy_srq)
VERBS_REFUSED_COMMAND(create_wq)
VERBS_REFUSED_COMMAND(modify_wq)
VERBS_REFUSED_COMMAND(destroy_wq)
VERBS_REFUSED_COMMAND(create_rwq_ind_table)
VERBS_REFUSED_COMMAND(destroy_rwq_ind_table)

VERBS_REFUSED_COMMAND(create_qp)
VERBS_REFUSED_COMMAND(create_qp_ex)
VERBS_REFUSED_COMMAND(create_qp_ex2)
VERBS_REFUSED_COMMAND(open_qp)
VERBS_REFUSED_COMMAND(modify_qp)
VERBS_REFUSED_COMMAND(modify_qp_ex)
VERBS_REFUSED_COMMAND(query_qp)
VERBS_REFUSED_COMMAND(destroy_qp)
VERBS_REFUSED_COMMAND(create_ah)
VERBS_REFUSED_COMMAND(destroy_ah)
VERBS_REFUSED_COMMAND(attach_mcast)
VERBS_REFUSED_COMMAND(detach_mcast)

VERBS_REFUSED_COMMAND(create_flow)
VERBS_REFUSED_COMMAND(destroy_flow)
VERBS_REFUSED_COMMAND(create_flow_action_esp)
VERBS_REFUSED_COMMAND(modify_flow_action_esp)
VERBS_REFUSED_COMMAND(destroy_flow_action)
VERBS_REFUSED_COMMAND(create_counters)
VERBS_REFUSED_COMMAND(destroy_counters)
VERBS_REFUSED_COMMAND(read_counters)

VERBS_REFUSED_COMMAND(query_comp_cntr_caps)
VERBS_REFUSED_COMMAND(create_comp_cntr)
VERBS_REFUSED_COMMAND(destroy_comp_cntr)
VERBS_REFUSED_COMMAND(set_comp_cntr)
VERBS_REFUSED_COMMAND(set_err_comp_cntr)
VERBS_REFUSED_COMMAND(inc_comp_cntr)
VERBS_REFUSED_COMMAND(inc_err_comp_cntr)
VERBS_REFUSED_COMMAND(read_comp_cntr)
VERBS_REFUSED_COMMAND(read_err_comp_cntr)
VERBS_REFUSED_COMMAND(qp_attach_comp_cntr)

#undef VERBS_REFUSED_COMMAND

// The commands of the data path return other values.
int ibv_cmd_poll_cq(ibv_cq*, int, ibv_wc*) { return -1; }

int ibv_cmd_post_send(ibv_qp*, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}

int ibv_cmd_post_recv(ibv_qp*, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}

int ibv_cmd_post_srq_recv(ibv_srq*, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}

}  // extern "C"
