// UD: sizes, immediates, the global routing header, answers to an address from a completion, keys and multicast.
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cases.h"
#include "connection.h"

enum { QKEY = 0x1234, GRH = 40 };

struct partner {
  uint32_t qpn;
  uint8_t gid[16];
};

static void create_datagram(struct run *run) {
  struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
                                  .send_cq = run->cq,
                                  .recv_cq = run->cq,
                                  .cap = {.max_send_wr = 16, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1}};
  run->qp = ibv_create_qp(run->end->pd, &init);
  if (run->qp == NULL) fail(run, "ibv_create_qp: %s", strerror(errno));
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
  if (ibv_modify_qp(run->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) != 0) {
    fail(run, "to INIT");
  }
  attr.qp_state = IBV_QPS_RTR;
  if (ibv_modify_qp(run->qp, &attr, IBV_QP_STATE) != 0) fail(run, "to RTR");
  attr.qp_state = IBV_QPS_RTS;
  if (ibv_modify_qp(run->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) != 0) fail(run, "to RTS");
}

static struct partner find_partner(struct run *run) {
  struct partner mine = {.qpn = run->qp->qp_num};
  struct partner theirs;
  memcpy(mine.gid, run->end->gid.raw, sizeof mine.gid);
  swap(run, &mine, &theirs, sizeof mine);
  return theirs;
}

static void make_route(struct run *run, const uint8_t *gid) {
  struct ibv_ah_attr attr = {
      .is_global = 1,
      .port_num = 1,
      .grh = {.sgid_index = (uint8_t)run->end->gid_index, .hop_limit = 64, .traffic_class = 0x20}};
  memcpy(attr.grh.dgid.raw, gid, sizeof attr.grh.dgid.raw);
  run->ah = ibv_create_ah(run->end->pd, &attr);
  if (run->ah == NULL) fail(run, "ibv_create_ah: %s", strerror(errno));
}

static void send_datagram(struct run *run, uint32_t qpn, uint32_t qkey, uint32_t length, const uint32_t *imm) {
  struct ibv_sge sge = {(uintptr_t)run->end->out, length, run->end->mr->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge,
                           .num_sge = 1,
                           .opcode = imm != NULL ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                           .send_flags = IBV_SEND_SIGNALED,
                           .imm_data = imm != NULL ? htonl(*imm) : 0};
  wr.wr.ud.ah = run->ah;
  wr.wr.ud.remote_qpn = qpn;
  wr.wr.ud.remote_qkey = qkey;
  struct ibv_send_wr *bad = NULL;
  const int result = ibv_post_send(run->qp, &wr, &bad);
  if (result != 0) fail(run, "ibv_post_send: %s", strerror(result));
  const struct ibv_wc wc = next_success(run);
  if ((wc.opcode & IBV_WC_RECV) == 0) return;
  run->early = wc;
  run->has_early = true;
  next_success(run);
}

// The network header in front of the data: of IPv6, or of IPv4 in the last 20 bytes.
static void check_grh(struct run *run, const struct partner *from, const uint8_t *to) {
  const uint8_t *grh = run->end->in;
  if (run->end->ipv6) {
    if (grh[0] >> 4 != 6) fail(run, "the GRH begins with %x", (unsigned)grh[0]);
    if (memcmp(grh + 8, from->gid, 16) != 0 || memcmp(grh + 24, to, 16) != 0) fail(run, "the addresses of the GRH");
    return;
  }
  if (grh[20] != 0x45) fail(run, "the IPv4 header begins with %x", (unsigned)grh[20]);
  if (memcmp(grh + 32, from->gid + 12, 4) != 0 || memcmp(grh + 36, to + 12, 4) != 0) {
    fail(run, "the addresses of the IPv4 header");
  }
}

static struct ibv_wc take_datagram(struct run *run, const struct partner *from, uint32_t length, const uint8_t *to) {
  const struct ibv_wc wc = run->has_early ? run->early : next_success(run);
  run->has_early = false;
  if (wc.byte_len != length + GRH) fail(run, "byte_len %u of %u", wc.byte_len, length + GRH);
  if ((wc.wc_flags & IBV_WC_GRH) == 0) fail(run, "no IBV_WC_GRH");
  if (wc.src_qp != from->qpn) fail(run, "src_qp %x of %x", wc.src_qp, from->qpn);
  check_grh(run, from, to);
  check_bytes(run, run->end->in + GRH, length, length, "data");
  return wc;
}

static void sizes(struct run *run, const void *argument) {
  const bool with_imm = argument != NULL;
  create_datagram(run);
  const struct partner partner = find_partner(run);
  make_route(run, partner.gid);
  static const uint32_t lengths[] = {0, 1, 2, 3, 64, 255, 256, 1000, 1024, 2047, 4095, 4096};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    const uint32_t length = lengths[i];
    const uint32_t imm = length + 9;
    if (!run->active) post_receive(run, i, HALF, length + GRH);
    meet(run);
    if (run->active) {
      fill(run->end->out, length, length);
      send_datagram(run, partner.qpn, QKEY, length, with_imm ? &imm : NULL);
    } else {
      const struct ibv_wc wc = take_datagram(run, &partner, length, run->end->gid.raw);
      if (with_imm && ((wc.wc_flags & IBV_WC_WITH_IMM) == 0 || ntohl(wc.imm_data) != imm)) fail(run, "imm_data");
    }
    meet(run);
  }
}

// The receiver answers to where the message came from.
static void answer(struct run *run, const void *argument) {
  (void)argument;
  create_datagram(run);
  const struct partner partner = find_partner(run);
  post_receive(run, 1, HALF, 64 + GRH);
  meet(run);
  fill(run->end->out, 20, 20);
  if (run->active) {
    make_route(run, partner.gid);
    send_datagram(run, partner.qpn, QKEY, 20, NULL);
  }
  struct ibv_wc wc = take_datagram(run, &partner, 20, run->end->gid.raw);
  if (!run->active) {
    run->ah = ibv_create_ah_from_wc(run->end->pd, &wc, (struct ibv_grh *)run->end->in, 1);
    if (run->ah == NULL) fail(run, "ibv_create_ah_from_wc: %s", strerror(errno));
    send_datagram(run, wc.src_qp, QKEY, 20, NULL);
  }
  meet(run);
}

static void wrong_key(struct run *run, const void *argument) {
  (void)argument;
  create_datagram(run);
  const struct partner partner = find_partner(run);
  make_route(run, partner.gid);
  if (!run->active) post_receive(run, 1, HALF, 64 + GRH);
  meet(run);
  if (run->active) {
    fill(run->end->out, 64, 9);
    send_datagram(run, partner.qpn, QKEY + 1, 9, NULL);
    send_datagram(run, partner.qpn ^ 0x80000, QKEY, 9, NULL);
    fill(run->end->out, 64, 20);
    send_datagram(run, partner.qpn, QKEY, 20, NULL);
  } else {
    take_datagram(run, &partner, 20, run->end->gid.raw);
    no_completion(run, 50);
  }
  meet(run);
}

// The kernel hands datagrams of a group to rxe only if some socket is a member, as librdmacm's are.
static int join_group(struct run *run, const union ibv_gid *group) {
  const bool ipv6 = run->end->ipv6;
  const int member = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
  int result;
  if (ipv6) {
    struct ibv_gid_entry entry;
    if (ibv_query_gid_ex(run->end->context, 1, (uint32_t)run->end->gid_index, &entry, 0) != 0) fail(run, "gid entry");
    struct ipv6_mreq request = {.ipv6mr_interface = entry.ndev_ifindex};
    memcpy(&request.ipv6mr_multiaddr, group->raw, 16);
    result = setsockopt(member, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &request, sizeof request);
  } else {
    struct ip_mreq request;
    memcpy(&request.imr_multiaddr, group->raw + 12, 4);
    memcpy(&request.imr_interface, run->end->gid.raw + 12, 4);
    result = setsockopt(member, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
  }
  if (result != 0) fail(run, "joining the group: %s", strerror(errno));
  return member;
}

static void multicast(struct run *run, const void *argument) {
  (void)argument;
  const union ibv_gid groups[] = {{.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 7, [14] = 7, [15] = 7}},
                                  {.raw = {[0] = 0xff, [1] = 0x0e, [15] = 0x77}}};
  const union ibv_gid group = groups[run->end->ipv6 ? 1 : 0];
  create_datagram(run);
  const struct partner partner = find_partner(run);
  int member = -1;
  if (!run->active) {
    member = join_group(run, &group);
    const int result = ibv_attach_mcast(run->qp, &group, 0);
    if (result != 0) fail(run, "ibv_attach_mcast: %s", strerror(result));
    post_receive(run, 1, HALF, 500 + GRH);
    usleep(100000);
  }
  meet(run);
  if (run->active) {
    make_route(run, group.raw);
    fill(run->end->out, 500, 500);
    send_datagram(run, 0xffffff, QKEY, 500, NULL);
  } else {
    take_datagram(run, &partner, 500, group.raw);
    if (ibv_detach_mcast(run->qp, &group, 0) != 0) fail(run, "ibv_detach_mcast");
    close(member);
  }
  meet(run);
}

void add_datagram_cases(struct case_list *list) {
  static const bool with_imm = true;
  list_add(list, sizes, NULL, "ud send");
  list_add(list, sizes, &with_imm, "ud send imm");
  list_add(list, answer, NULL, "ud answer to a completion's address");
  list_add(list, wrong_key, NULL, "ud wrong Q_Key and wrong queue pair");
  list_add(list, multicast, NULL, "ud multicast");
}
