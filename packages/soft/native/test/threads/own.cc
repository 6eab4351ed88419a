#include "test/threads/own.h"

#include <cerrno>
#include <vector>

namespace verbs::soft::test::threads {
namespace {

void use_region(Player& player, const Side& side) {
  std::vector<std::uint8_t> memory(4096 * (1 + player.below(4)));
  ibv_pd* pd = player.count("ibv_alloc_pd", ibv_alloc_pd(side.context));
  THREADS_CHECK(pd != nullptr);
  ibv_mr* mr = player.count("ibv_reg_mr", ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE));
  ibv_mw* mw = player.count("ibv_alloc_mw", ibv_alloc_mw(pd, IBV_MW_TYPE_2));
  THREADS_CHECK(mr != nullptr && mw != nullptr);
  THREADS_CHECK(!player.count("ibv_dealloc_pd", ibv_dealloc_pd(pd)));  // EBUSY
  const int changed = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_READ);
  THREADS_CHECK(player.count("ibv_rereg_mr", changed));
  THREADS_CHECK(player.count("ibv_dealloc_mw", ibv_dealloc_mw(mw)));
  THREADS_CHECK(player.count("ibv_dereg_mr", ibv_dereg_mr(mr)));
  THREADS_CHECK(player.count("ibv_dealloc_pd", ibv_dealloc_pd(pd)));
}

void use_queues(Player& player, const Side& side) {
  ibv_comp_channel* channel =
      player.one_in(2) ? side.channel : player.count("ibv_create_comp_channel", ibv_create_comp_channel(side.context));
  ibv_cq* cq = player.count("ibv_create_cq", ibv_create_cq(side.context, 16, nullptr, channel, 0));
  ibv_srq_init_attr shared{.srq_context = nullptr, .attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0}};
  ibv_srq* srq = player.count("ibv_create_srq", ibv_create_srq(side.pd, &shared));
  THREADS_CHECK(channel != nullptr && cq != nullptr && srq != nullptr);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.srq = player.one_in(2) ? srq : nullptr;
  init.qp_type = player.one_in(2) ? IBV_QPT_RC : IBV_QPT_UD;
  init.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  ibv_qp* qp = player.count("ibv_create_qp", ibv_create_qp(side.pd, &init));
  THREADS_CHECK(qp != nullptr);
  THREADS_CHECK(!player.count("ibv_destroy_cq", ibv_destroy_cq(cq)));  // EBUSY
  THREADS_CHECK(player.count("ibv_resize_cq", ibv_resize_cq(cq, 32)));
  ibv_srq_attr limit{.max_wr = 0, .max_sge = 0, .srq_limit = 1};
  player.count("ibv_modify_srq", ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
  THREADS_CHECK(player.count("ibv_query_srq", ibv_query_srq(srq, &limit)));
  if (init.qp_type == IBV_QPT_UD) {
    ibv_gid group{};
    group.raw[10] = group.raw[11] = 0xff;
    group.raw[12] = 224;
    group.raw[15] = static_cast<std::uint8_t>(1 + player.below(4));
    if (player.count("ibv_attach_mcast", ibv_attach_mcast(qp, &group, 0))) {
      THREADS_CHECK(player.count("ibv_detach_mcast", ibv_detach_mcast(qp, &group, 0)));
    }
  }
  THREADS_CHECK(player.count("ibv_destroy_qp", ibv_destroy_qp(qp)));
  THREADS_CHECK(player.count("ibv_destroy_srq", ibv_destroy_srq(srq)));
  THREADS_CHECK(player.count("ibv_destroy_cq", ibv_destroy_cq(cq)));
  if (channel != side.channel)
    THREADS_CHECK(player.count("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel)));
}

void use_domains(Player& player, const Side& side, const Side& other) {
  ibv_td_init_attr td_attr{};
  ibv_td* td = player.count("ibv_alloc_td", ibv_alloc_td(side.context, &td_attr));
  ibv_parent_domain_init_attr domain_attr{};
  domain_attr.pd = side.pd;
  domain_attr.td = td;
  ibv_pd* domain = player.count("ibv_alloc_parent_domain", ibv_alloc_parent_domain(side.context, &domain_attr));
  THREADS_CHECK(td != nullptr && domain != nullptr);
  ibv_ah_attr attr = address_of(other);
  ibv_ah* ah = player.count("ibv_create_ah", ibv_create_ah(domain, &attr));
  ibv_xrcd_init_attr xrcd_attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = 0};
  ibv_xrcd* xrcd = player.count("ibv_open_xrcd", ibv_open_xrcd(side.context, &xrcd_attr));
  ibv_alloc_dm_attr dm_attr{.length = 64, .log_align_req = 0, .comp_mask = 0};
  ibv_dm* dm = player.count("ibv_alloc_dm", ibv_alloc_dm(side.context, &dm_attr));
  THREADS_CHECK(ah != nullptr && xrcd != nullptr && dm != nullptr);
  char word[8] = {};
  THREADS_CHECK(player.count("ibv_memcpy_to_dm", ibv_memcpy_to_dm(dm, 0, word, sizeof word)));
  THREADS_CHECK(player.count("ibv_free_dm", ibv_free_dm(dm)));
  THREADS_CHECK(player.count("ibv_close_xrcd", ibv_close_xrcd(xrcd)));
  THREADS_CHECK(player.count("ibv_destroy_ah", ibv_destroy_ah(ah)));
  THREADS_CHECK(player.count("ibv_dealloc_pd", ibv_dealloc_pd(domain)));
  THREADS_CHECK(player.count("ibv_dealloc_td", ibv_dealloc_td(td)));
}

void query(Player& player, const Side& side) {
  ibv_device_attr device{};
  ibv_port_attr port{};
  ibv_gid gid{};
  std::uint16_t key = 0;
  THREADS_CHECK(player.count("ibv_query_device", ibv_query_device(side.context, &device)));
  THREADS_CHECK(player.count("ibv_query_port", ibv_query_port(side.context, 1, &port)));
  THREADS_CHECK(player.count("ibv_query_gid", ibv_query_gid(side.context, 1, 0, &gid)));
  THREADS_CHECK(player.count("ibv_query_pkey", ibv_query_pkey(side.context, 1, 0, &key)));
}

// Left with an object, which the closing frees.
void open_and_close(Player& player) {
  ibv_context* context = player.count("ibv_open_device", open_device(player.one_in(2) ? "a" : "b"));
  THREADS_CHECK(context != nullptr);
  ibv_pd* pd = player.count("ibv_alloc_pd", ibv_alloc_pd(context));
  ibv_cq* cq = player.count("ibv_create_cq", ibv_create_cq(context, 16, nullptr, nullptr, 0));
  THREADS_CHECK(pd != nullptr && cq != nullptr);
  if (player.one_in(2)) THREADS_CHECK(player.count("ibv_dealloc_pd", ibv_dealloc_pd(pd)));
  THREADS_CHECK(player.count("ibv_close_device", ibv_close_device(context)));
}

}  // namespace

void use_own_objects(Player& player, const Side& side, const Side& other) {
  switch (player.below(8)) {
    case 0:
    case 1:
      return use_region(player, side);
    case 2:
    case 3:
      return use_queues(player, side);
    case 4:
    case 5:
      return use_domains(player, side, other);
    case 6:
      return open_and_close(player);
    default:
      return query(player, side);
  }
}

}  // namespace verbs::soft::test::threads
