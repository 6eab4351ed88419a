// Datagrams and address handles (IBTA 9.8.3, 11.2.2, annex A17).
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "harness.h"

enum { kGrh = 40 };

static struct ibv_ah *address_handle(struct bench *bench) {
  struct ibv_ah_attr attr = address_of(bench);
  struct ibv_ah *ah = ibv_create_ah(bench->pd, &attr);
  CHECK(ah != NULL);
  return ah;
}

static struct bench *ready(void) {
  const struct plan plan = {.type = IBV_QPT_UD};
  return connected(&plan);
}

static struct ibv_send_wr datagram(struct bench *bench, struct ibv_sge *sge, uint32_t length) {
  struct ibv_send_wr wr = request(bench, sge, IBV_WR_SEND, length);
  memset(&wr.wr, 0, sizeof wr.wr);
  wr.wr.ud.ah = address_handle(bench);
  wr.wr.ud.remote_qpn = bench->b->qp_num;
  wr.wr.ud.remote_qkey = kQkey;
  return wr;
}

static void a_datagram_arrives_behind_its_header(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 500);
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->a), IBV_WC_SUCCESS);
  const struct ibv_wc wc = completion_of(bench, bench->b);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(wc.byte_len, 500 + kGrh);
  EQUAL(wc.src_qp, bench->a->qp_num);
  CHECK((wc.wc_flags & IBV_WC_GRH) != 0);
  CHECK(same_bytes(bench, 0, kRegion / 2 + kGrh, 500));
  EQUAL(wc.slid, 0);
  const bool ipv4 = bench->gid.raw[10] == 0xff && bench->gid.raw[0] == 0;
  EITHER(wc.sl, ipv4 ? 2 : 1, 0);  // adapters tell the type of the network header
}

static void the_header_is_the_senders(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->b), IBV_WC_SUCCESS);
  const uint8_t *header = far_at(bench, 0);
  if (bench->gid.raw[10] == 0xff && bench->gid.raw[0] == 0) {
    EQUAL(header[20] >> 4, 4);
    EQUAL(memcmp(header + 32, bench->gid.raw + 12, 4), 0);
    EQUAL(memcmp(header + 36, bench->gid.raw + 12, 4), 0);
  } else {
    EQUAL(header[0] >> 4, 6);
    EQUAL(memcmp(header + 8, bench->gid.raw, 16), 0);
  }
}

static void answered_by_its_completion(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  EQUAL(post(bench->a, &wr), 0);
  struct ibv_wc wc = completion_of(bench, bench->b);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(post_receive(bench, bench->a, 2000), 0);
  struct ibv_ah *ah = ibv_create_ah_from_wc(bench->pd, &wc, (struct ibv_grh *)far_at(bench, 0), 1);
  CHECK(ah != NULL);
  wr.wr.ud.ah = ah;
  wr.wr.ud.remote_qpn = wc.src_qp;
  EQUAL(post(bench->b, &wr), 0);
  for (;;) {
    wc = completion_of(bench, bench->a);
    STATUS(wc, IBV_WC_SUCCESS);
    if (wc.opcode == IBV_WC_RECV) break;
  }
  EQUAL(wc.src_qp, bench->b->qp_num);
}

static void immediate(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  wr.opcode = IBV_WR_SEND_WITH_IMM;
  wr.imm_data = htonl(99);
  EQUAL(post(bench->a, &wr), 0);
  const struct ibv_wc wc = completion_of(bench, bench->b);
  EQUAL(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
  EQUAL(ntohl(wc.imm_data), 99);
}

static void a_wrong_qkey_is_dropped(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  wr.wr.ud.remote_qkey = kQkey + 1;
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  CHECK(silent(bench));
}

static void the_queue_pairs_own_qkey(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  wr.wr.ud.remote_qkey = 0x80000000;
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->b), IBV_WC_SUCCESS);
}

static void no_receive_request(void) {
  struct bench *bench = ready();
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  CHECK(silent(bench));
  EQUAL(state_of(bench->a), IBV_QPS_RTS);
}

// IBTA C10-93.1.1: the request may complete with an error or with success; nothing arrives.
static void longer_than_the_mtu(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 20000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, (128u << bench->port.active_mtu) + 1);
  const int error = post(bench->a, &wr);
  if (error != 0) {
    EQUAL(error, EINVAL);
    return note_case("refused by the post");
  }
  EITHER(completion_of(bench, bench->a).status, IBV_WC_LOC_LEN_ERR, IBV_WC_SUCCESS);
  CHECK(silent(bench));
}

static void no_rdma(void) {
  struct bench *bench = ready();
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  wr.opcode = IBV_WR_RDMA_WRITE;
  const int error = post(bench->a, &wr);
  if (error != 0) {
    EQUAL(error, EINVAL);
    return note_case("refused by the post");
  }
  STATUS(completion_of(bench, bench->a), IBV_WC_LOC_QP_OP_ERR);
  note_case("refused by a completion");
}

static void an_address_needs_a_route(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_ah_attr attr = address_of(bench);
  attr.is_global = 0;
  CHECK(ibv_create_ah(bench->pd, &attr) == NULL);
  attr = address_of(bench);
  attr.port_num = (uint8_t)(bench->device.phys_port_cnt + 1);
  CHECK(ibv_create_ah(bench->pd, &attr) == NULL);
}

static void fields_beyond_their_width(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  struct ibv_ah_attr attr = address_of(bench);
  attr.grh.flow_label = 0xffffffff;
  attr.dlid = 0xc000;
  wr.wr.ud.ah = ibv_create_ah(bench->pd, &attr);
  CHECK(wr.wr.ud.ah != NULL);
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->b), IBV_WC_SUCCESS);
}

static void a_handle_may_go_before_its_packet(void) {
  struct bench *bench = ready();
  EQUAL(post_receive(bench, bench->b, 2000), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = datagram(bench, &sge, 8);
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->a), IBV_WC_SUCCESS);
  EQUAL(ibv_destroy_ah(wr.wr.ud.ah), 0);
  STATUS(completion_of(bench, bench->b), IBV_WC_SUCCESS);
}

static const struct test_case kCases[] = {
    {"a datagram arrives behind 40 bytes", a_datagram_arrives_behind_its_header},
    {"they hold its network header", the_header_is_the_senders},
    {"it is answered by an address handle from its completion", answered_by_its_completion},
    {"immediate data", immediate},
    {"a wrong Q_Key is dropped", a_wrong_qkey_is_dropped},
    {"a Q_Key with its top bit stands for the queue pair's own", the_queue_pairs_own_qkey},
    {"without a receive request it is dropped", no_receive_request},
    {"longer than the MTU", longer_than_the_mtu},
    {"no RDMA on datagrams", no_rdma},
    {"an address handle needs a route and a port", an_address_needs_a_route},
    {"a flow label above 20 bits and a dlid are taken", fields_beyond_their_width},
    {"an address handle may go once its request is complete", a_handle_may_go_before_its_packet},
};
GROUP(datagram_group, "datagrams", kCases);
