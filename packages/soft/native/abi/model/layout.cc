// The layout that compiled programs rely on: what libibverbs 44 had (64-bit), in its place in every later header. A
// header in which something moved fails the build. Structures that grow at their end or, as verbs_context does, at
// their front are checked up to where they were (abi/objects/later.h has the rest).
#include <infiniband/verbs.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "abi/objects/objects.h"

static_assert(sizeof(void*) == 8, "the layouts below are those of 64-bit machines");

// Part of many objects: 40 bytes on x86-64, 48 on arm64.
constexpr std::size_t kMutex = sizeof(pthread_mutex_t);

static_assert(sizeof(ibv_context_ops) == 256);
static_assert(sizeof(ibv_context) == 288 + kMutex);
static_assert(sizeof(verbs_context) >= 608 + kMutex);
static_assert(sizeof(ibv_device) == 664);
static_assert(sizeof(ibv_pd) == 16);
static_assert(sizeof(ibv_mr) == 48);
static_assert(sizeof(ibv_cq) == 88 + kMutex);
static_assert(sizeof(ibv_cq_ex) >= 248 + kMutex);
static_assert(sizeof(ibv_qp) == 120 + kMutex);
static_assert(sizeof(ibv_qp_ex) >= 312 + kMutex);
static_assert(offsetof(ibv_qp_ex, wr_atomic_write) == 304 + kMutex);
static_assert(sizeof(ibv_srq) == 88 + kMutex);
static_assert(sizeof(ibv_ah) == 24);
static_assert(sizeof(ibv_comp_channel) == 16);
static_assert(sizeof(ibv_mw) == 32);
static_assert(sizeof(ibv_dm) == 32);
static_assert(sizeof(ibv_td) == 8);
static_assert(sizeof(ibv_xrcd) == 8);
static_assert(sizeof(ibv_wq) == 112 + kMutex);
static_assert(sizeof(ibv_flow) == 24);
static_assert(sizeof(ibv_wc) == 48);
static_assert(sizeof(ibv_send_wr) == 128);
static_assert(sizeof(ibv_recv_wr) == 32);
static_assert(sizeof(ibv_sge) == 16);
static_assert(sizeof(ibv_device_attr) == 232);
static_assert(sizeof(ibv_device_attr_ex) >= 400);
static_assert(sizeof(ibv_port_attr) >= 52);
static_assert(sizeof(ibv_qp_attr) == 144);
static_assert(sizeof(ibv_qp_init_attr) == 64);
static_assert(sizeof(ibv_qp_init_attr_ex) == 136);
static_assert(sizeof(ibv_cq_init_attr_ex) == 56);
static_assert(sizeof(ibv_srq_init_attr) == 24);
static_assert(sizeof(ibv_srq_init_attr_ex) == 64);
static_assert(sizeof(ibv_ah_attr) == 32);
static_assert(sizeof(ibv_global_route) == 24);
static_assert(sizeof(ibv_async_event) == 16);
static_assert(sizeof(ibv_gid_entry) == 32);
static_assert(sizeof(ibv_ece) == 12);
static_assert(sizeof(ibv_mw_bind) == 48);
static_assert(sizeof(ibv_grh) == 40);

static_assert(offsetof(ibv_device, _ops) == 0);
static_assert(offsetof(ibv_device, node_type) == 16);
static_assert(offsetof(ibv_device, transport_type) == 20);
static_assert(offsetof(ibv_device, name) == 24);
static_assert(offsetof(ibv_device, dev_name) == 88);
static_assert(offsetof(ibv_device, dev_path) == 152);
static_assert(offsetof(ibv_device, ibdev_path) == 408);

static_assert(offsetof(ibv_context, device) == 0);
static_assert(offsetof(ibv_context, ops) == 8);
static_assert(offsetof(ibv_context, cmd_fd) == 264);
static_assert(offsetof(ibv_context, async_fd) == 268);
static_assert(offsetof(ibv_context, num_comp_vectors) == 272);
static_assert(offsetof(ibv_context, mutex) == 280);
static_assert(offsetof(ibv_context, abi_compat) == 280 + kMutex);

static_assert(offsetof(ibv_context_ops, _compat_query_device) == 0);
static_assert(offsetof(ibv_context_ops, _compat_query_port) == 8);
static_assert(offsetof(ibv_context_ops, alloc_mw) == 56);
static_assert(offsetof(ibv_context_ops, bind_mw) == 64);
static_assert(offsetof(ibv_context_ops, dealloc_mw) == 72);
static_assert(offsetof(ibv_context_ops, poll_cq) == 88);
static_assert(offsetof(ibv_context_ops, req_notify_cq) == 96);
static_assert(offsetof(ibv_context_ops, post_srq_recv) == 160);
static_assert(offsetof(ibv_context_ops, post_send) == 200);
static_assert(offsetof(ibv_context_ops, post_recv) == 208);

static_assert(offsetof(ibv_pd, context) == 0);
static_assert(offsetof(ibv_pd, handle) == 8);

static_assert(offsetof(ibv_ah, context) == 0);
static_assert(offsetof(ibv_ah, pd) == 8);
static_assert(offsetof(ibv_ah, handle) == 16);

static_assert(offsetof(ibv_mr, context) == 0);
static_assert(offsetof(ibv_mr, pd) == 8);
static_assert(offsetof(ibv_mr, addr) == 16);
static_assert(offsetof(ibv_mr, length) == 24);
static_assert(offsetof(ibv_mr, handle) == 32);
static_assert(offsetof(ibv_mr, lkey) == 36);
static_assert(offsetof(ibv_mr, rkey) == 40);

static_assert(offsetof(ibv_comp_channel, context) == 0);
static_assert(offsetof(ibv_comp_channel, fd) == 8);
static_assert(offsetof(ibv_comp_channel, refcnt) == 12);

static_assert(offsetof(ibv_cq, context) == 0);
static_assert(offsetof(ibv_cq, channel) == 8);
static_assert(offsetof(ibv_cq, cq_context) == 16);
static_assert(offsetof(ibv_cq, handle) == 24);
static_assert(offsetof(ibv_cq, cqe) == 28);
static_assert(offsetof(ibv_cq, mutex) == 32);
static_assert(offsetof(ibv_cq, cond) == 32 + kMutex);
static_assert(offsetof(ibv_cq, comp_events_completed) == 80 + kMutex);
static_assert(offsetof(ibv_cq, async_events_completed) == 84 + kMutex);

static_assert(offsetof(ibv_qp, context) == 0);
static_assert(offsetof(ibv_qp, qp_context) == 8);
static_assert(offsetof(ibv_qp, pd) == 16);
static_assert(offsetof(ibv_qp, send_cq) == 24);
static_assert(offsetof(ibv_qp, recv_cq) == 32);
static_assert(offsetof(ibv_qp, srq) == 40);
static_assert(offsetof(ibv_qp, handle) == 48);
static_assert(offsetof(ibv_qp, qp_num) == 52);
static_assert(offsetof(ibv_qp, state) == 56);
static_assert(offsetof(ibv_qp, qp_type) == 60);
static_assert(offsetof(ibv_qp, mutex) == 64);
static_assert(offsetof(ibv_qp, cond) == 64 + kMutex);
static_assert(offsetof(ibv_qp, events_completed) == 112 + kMutex);

static_assert(offsetof(ibv_srq, context) == 0);
static_assert(offsetof(ibv_srq, srq_context) == 8);
static_assert(offsetof(ibv_srq, pd) == 16);
static_assert(offsetof(ibv_srq, handle) == 24);
static_assert(offsetof(ibv_srq, mutex) == 32);
static_assert(offsetof(ibv_srq, cond) == 32 + kMutex);
static_assert(offsetof(ibv_srq, events_completed) == 80 + kMutex);

static_assert(offsetof(ibv_wq, context) == 0);
static_assert(offsetof(ibv_wq, wq_context) == 8);
static_assert(offsetof(ibv_wq, pd) == 16);
static_assert(offsetof(ibv_wq, cq) == 24);
static_assert(offsetof(ibv_wq, wq_num) == 32);
static_assert(offsetof(ibv_wq, handle) == 36);
static_assert(offsetof(ibv_wq, state) == 40);
static_assert(offsetof(ibv_wq, wq_type) == 44);
static_assert(offsetof(ibv_wq, post_recv) == 48);
static_assert(offsetof(ibv_wq, mutex) == 56);
static_assert(offsetof(ibv_wq, cond) == 56 + kMutex);
static_assert(offsetof(ibv_wq, events_completed) == 104 + kMutex);

static_assert(offsetof(ibv_wc, wr_id) == 0);
static_assert(offsetof(ibv_wc, status) == 8);
static_assert(offsetof(ibv_wc, opcode) == 12);
static_assert(offsetof(ibv_wc, vendor_err) == 16);
static_assert(offsetof(ibv_wc, byte_len) == 20);
static_assert(offsetof(ibv_wc, imm_data) == 24);
static_assert(offsetof(ibv_wc, qp_num) == 28);
static_assert(offsetof(ibv_wc, src_qp) == 32);
static_assert(offsetof(ibv_wc, wc_flags) == 36);
static_assert(offsetof(ibv_wc, pkey_index) == 40);
static_assert(offsetof(ibv_wc, slid) == 42);
static_assert(offsetof(ibv_wc, sl) == 44);
static_assert(offsetof(ibv_wc, dlid_path_bits) == 45);

// By the distance to the ibv_context at its end, of which programs have the address.
constexpr std::size_t kContext = offsetof(verbs_context, context);

static_assert(kContext - offsetof(verbs_context, query_port) == 320);
static_assert(kContext - offsetof(verbs_context, advise_mr) == 312);
static_assert(kContext - offsetof(verbs_context, alloc_null_mr) == 304);
static_assert(kContext - offsetof(verbs_context, read_counters) == 296);
static_assert(kContext - offsetof(verbs_context, reg_dm_mr) == 264);
static_assert(kContext - offsetof(verbs_context, alloc_dm) == 256);
static_assert(kContext - offsetof(verbs_context, free_dm) == 248);
static_assert(kContext - offsetof(verbs_context, modify_qp_rate_limit) == 216);
static_assert(kContext - offsetof(verbs_context, alloc_parent_domain) == 208);
static_assert(kContext - offsetof(verbs_context, modify_cq) == 184);
static_assert(kContext - offsetof(verbs_context, post_srq_ops) == 176);
static_assert(kContext - offsetof(verbs_context, create_wq) == 136);
static_assert(kContext - offsetof(verbs_context, query_rt_values) == 128);
static_assert(kContext - offsetof(verbs_context, create_cq_ex) == 120);
static_assert(kContext - offsetof(verbs_context, priv) == 112);
static_assert(kContext - offsetof(verbs_context, query_device_ex) == 104);
static_assert(kContext - offsetof(verbs_context, ibv_destroy_flow) == 96);
static_assert(kContext - offsetof(verbs_context, ABI_placeholder2) == 88);
static_assert(kContext - offsetof(verbs_context, ibv_create_flow) == 80);
static_assert(kContext - offsetof(verbs_context, ABI_placeholder1) == 72);
static_assert(kContext - offsetof(verbs_context, open_qp) == 64);
static_assert(kContext - offsetof(verbs_context, create_qp_ex) == 56);
static_assert(kContext - offsetof(verbs_context, get_srq_num) == 48);
static_assert(kContext - offsetof(verbs_context, create_srq_ex) == 40);
static_assert(kContext - offsetof(verbs_context, open_xrcd) == 32);
static_assert(kContext - offsetof(verbs_context, close_xrcd) == 24);
static_assert(kContext - offsetof(verbs_context, sz) == 8);

// Where abi::of() and the programs look.
using verbs::soft::abi::Context;
namespace later = verbs::soft::abi::later;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(Context, verbs) == later::kLaterOps * sizeof(void*));
#pragma GCC diagnostic pop
static_assert(offsetof(later::QpEx, wr_flush) == 312 + kMutex);
static_assert(offsetof(later::PortAttr, active_speed_ex) == 52);
static_assert(sizeof(later::MrInitAttr) == 72);
static_assert(sizeof(later::CompCntrCaps) == 16 && sizeof(later::CompCntrInitAttr) == 12);
static_assert(sizeof(later::DmahInitAttr) == 12);
