#include "abi/model/driver.h"

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "abi/objects/objects.h"

// The private symbols that rdma-core's drivers use, except for the kernel commands. Programs that are linked with a
// vendor's library (perftest, pyverbs) load it, and with it the vendor's driver, on top of this libibverbs. A driver
// may register. It finds no device, and every other call fails.

using namespace verbs::soft;

extern "C" {

// Whether destroy calls succeed after the device was removed. Set by drivers; our devices are never removed.
extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;

// Called by the constructor of every driver, under the private ABI number that it was built for: 34 to 99, of which 34,
// 57, 59, 64 and 65 exist. There is no kernel device to match.
#define VERBS_REGISTER(number) \
  void verbs_register_driver_##number(const void* /*ops*/) {}
#define VERBS_REGISTER_TEN(ten) \
  VERBS_REGISTER(ten##0);       \
  VERBS_REGISTER(ten##1);       \
  VERBS_REGISTER(ten##2);       \
  VERBS_REGISTER(ten##3);       \
  VERBS_REGISTER(ten##4);       \
  VERBS_REGISTER(ten##5);       \
  VERBS_REGISTER(ten##6);       \
  VERBS_REGISTER(ten##7);       \
  VERBS_REGISTER(ten##8);       \
  VERBS_REGISTER(ten##9)
VERBS_REGISTER(34);
VERBS_REGISTER(35);
VERBS_REGISTER(36);
VERBS_REGISTER(37);
VERBS_REGISTER(38);
VERBS_REGISTER(39);
VERBS_REGISTER_TEN(4);
VERBS_REGISTER_TEN(5);
VERBS_REGISTER_TEN(6);
VERBS_REGISTER_TEN(7);
VERBS_REGISTER_TEN(8);
VERBS_REGISTER_TEN(9);
#undef VERBS_REGISTER_TEN
#undef VERBS_REGISTER

// For drivers that open their own device with their own attributes.
ibv_context* verbs_open_device(ibv_device* device, void* private_data) {
  return private_data ? abi::null_with<ibv_context>(EOPNOTSUPP) : ibv_open_device(device);
}

// NOLINTBEGIN(bugprone-reserved-identifier): the names are rdma-core's.

// Creates the context for a driver's alloc_context(), which is never called here.
void* _verbs_init_and_alloc_context(ibv_device*, int /*cmd_fd*/, std::size_t /*size*/, verbs_context* /*offset*/,
                                    std::uint32_t /*driver_id*/) {
  return abi::null_with<void>(EOPNOTSUPP);
}
void verbs_uninit_context(verbs_context*) {}

// The functions of our contexts stay as they are.
void verbs_set_ops(verbs_context*, const void* /*ops*/) {}

// Logs to VERBS_LOG_FILE in rdma-core; nothing is logged here.
void __verbs_log(verbs_context*, std::uint32_t /*level*/, const char* /*format*/, ...) {}

int ibv_read_ibdev_sysfs_file(char*, std::size_t, void* /*sysfs_device*/, const char* /*format*/, ...) {
  errno = ENOENT;
  return -1;
}

// The size of a command buffer. execute_ioctl() below reads no buffer, so that the size is 0.
unsigned int __ioctl_final_num_attrs(unsigned int count, void* /*link*/) { return count; }

// NOLINTEND(bugprone-reserved-identifier)

// Memory of a dma-buf heap, for drivers in a confidential guest.
void* ibv_dmabuf_heap_alloc(void* /*heap*/, std::size_t /*size*/, int* /*fd*/) {
  return abi::null_with<void>(EOPNOTSUPP);
}
int ibv_dmabuf_heap_cc_shared_init(void* /*heap*/) { return EOPNOTSUPP; }
void ibv_dmabuf_heap_destroy(void* /*heap*/) {}
void ibv_dmabuf_heap_free(void* /*address*/, std::size_t /*size*/, int /*fd*/) {}

int execute_ioctl(ibv_context*, void* /*command*/) { return EOPNOTSUPP; }

}  // extern "C"

// The kernel commands that rdma-core's drivers send through libibverbs. Our contexts have no kernel device: every
// command fails as on a kernel without it (EOPNOTSUPP), and nothing is read or written.

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

namespace {

// Conversions between the kernel's structures of the connection manager and those of the verbs (librdmacm uses them).

void copy_ah_attr(ibv_ah_attr* to, const ib_uverbs_ah_attr& from) {
  *to = {};
  std::memcpy(to->grh.dgid.raw, from.grh.dgid, sizeof to->grh.dgid.raw);
  to->grh.flow_label = from.grh.flow_label;
  to->grh.sgid_index = from.grh.sgid_index;
  to->grh.hop_limit = from.grh.hop_limit;
  to->grh.traffic_class = from.grh.traffic_class;
  to->dlid = from.dlid;
  to->sl = from.sl;
  to->src_path_bits = from.src_path_bits;
  to->static_rate = from.static_rate;
  to->is_global = from.is_global;
  to->port_num = from.port_num;
}

}  // namespace

extern "C" {

void ibv_copy_ah_attr_from_kern(ibv_ah_attr* to, ib_uverbs_ah_attr* from) { copy_ah_attr(to, *from); }

void ibv_copy_qp_attr_from_kern(ibv_qp_attr* to, ib_uverbs_qp_attr* from) {
  to->qp_state = static_cast<ibv_qp_state>(from->qp_state);
  to->cur_qp_state = static_cast<ibv_qp_state>(from->cur_qp_state);
  to->path_mtu = static_cast<ibv_mtu>(from->path_mtu);
  to->path_mig_state = static_cast<ibv_mig_state>(from->path_mig_state);
  to->qkey = from->qkey;
  to->rq_psn = from->rq_psn;
  to->sq_psn = from->sq_psn;
  to->dest_qp_num = from->dest_qp_num;
  to->qp_access_flags = from->qp_access_flags;
  to->cap.max_send_wr = from->max_send_wr;
  to->cap.max_recv_wr = from->max_recv_wr;
  to->cap.max_send_sge = from->max_send_sge;
  to->cap.max_recv_sge = from->max_recv_sge;
  to->cap.max_inline_data = from->max_inline_data;
  copy_ah_attr(&to->ah_attr, from->ah_attr);
  copy_ah_attr(&to->alt_ah_attr, from->alt_ah_attr);
  to->pkey_index = from->pkey_index;
  to->alt_pkey_index = from->alt_pkey_index;
  to->en_sqd_async_notify = from->en_sqd_async_notify;
  to->sq_draining = from->sq_draining;
  to->max_rd_atomic = from->max_rd_atomic;
  to->max_dest_rd_atomic = from->max_dest_rd_atomic;
  to->min_rnr_timer = from->min_rnr_timer;
  to->port_num = from->port_num;
  to->timeout = from->timeout;
  to->retry_cnt = from->retry_cnt;
  to->rnr_retry = from->rnr_retry;
  to->alt_port_num = from->alt_port_num;
  to->alt_timeout = from->alt_timeout;
}

void ibv_copy_path_rec_from_kern(ibv_sa_path_rec* to, ib_user_path_rec* from) {
  std::memcpy(to->dgid.raw, from->dgid, sizeof to->dgid.raw);
  std::memcpy(to->sgid.raw, from->sgid, sizeof to->sgid.raw);
  to->dlid = from->dlid;
  to->slid = from->slid;
  to->raw_traffic = static_cast<int>(from->raw_traffic);
  to->flow_label = from->flow_label;
  to->hop_limit = from->hop_limit;
  to->traffic_class = from->traffic_class;
  to->reversible = static_cast<int>(from->reversible);
  to->numb_path = from->numb_path;
  to->pkey = from->pkey;
  to->sl = from->sl;
  to->mtu_selector = from->mtu_selector;
  to->mtu = static_cast<std::uint8_t>(from->mtu);
  to->rate_selector = from->rate_selector;
  to->rate = from->rate;
  to->packet_life_time_selector = from->packet_life_time_selector;
  to->packet_life_time = from->packet_life_time;
  to->preference = from->preference;
}

void ibv_copy_path_rec_to_kern(ib_user_path_rec* to, ibv_sa_path_rec* from) {
  std::memcpy(to->dgid, from->dgid.raw, sizeof to->dgid);
  std::memcpy(to->sgid, from->sgid.raw, sizeof to->sgid);
  to->dlid = from->dlid;
  to->slid = from->slid;
  to->raw_traffic = static_cast<__u32>(from->raw_traffic);
  to->flow_label = from->flow_label;
  to->hop_limit = from->hop_limit;
  to->traffic_class = from->traffic_class;
  to->reversible = static_cast<__u32>(from->reversible);
  to->numb_path = from->numb_path;
  to->pkey = from->pkey;
  to->sl = from->sl;
  to->mtu_selector = from->mtu_selector;
  to->mtu = from->mtu;
  to->rate_selector = from->rate_selector;
  to->rate = from->rate;
  to->packet_life_time_selector = from->packet_life_time_selector;
  to->packet_life_time = from->packet_life_time;
  to->preference = from->preference;
}

}  // extern "C"
