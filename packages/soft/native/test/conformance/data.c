// What arrives, and what completes (IBTA 9.4, 9.7, 10.8, 11.4.2).
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "harness.h"

static void sends_of_every_length(void) {
  static const uint32_t kLengths[] = {0, 1, 3, 255, 256, 257, 1023, 1024, 1025, 4096, 65536};
  struct bench *bench = connected(NULL);
  for (size_t i = 0; i < sizeof kLengths / sizeof kLengths[0]; ++i) {
    memset(far_at(bench, 0), 0xee, kRegion / 2);
    EQUAL(post_receive(bench, bench->b, kRegion / 2), 0);
    transfer(bench, bench->a, IBV_WR_SEND, kLengths[i]);
    const struct ibv_wc sent = completion_of(bench, bench->a), received = completion_of(bench, bench->b);
    STATUS(sent, IBV_WC_SUCCESS);
    EQUAL(sent.opcode, IBV_WC_SEND);
    EQUAL(sent.wr_id, 1);
    STATUS(received, IBV_WC_SUCCESS);
    EQUAL(received.opcode, IBV_WC_RECV);
    EQUAL(received.wr_id, 100);
    EQUAL(received.byte_len, kLengths[i]);
    EQUAL(received.wc_flags & IBV_WC_WITH_IMM, 0);
    CHECK(same_bytes(bench, 0, kRegion / 2, kLengths[i]));
    if (kLengths[i] < kRegion / 2) EQUAL(*far_at(bench, kLengths[i]), 0xee);
  }
}

static void every_mtu(void) {
  for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; ++mtu) {
    struct bench *bench = bench_open(NULL);
    if (mtu > bench->port.active_mtu) return note_case("the port's MTU is %u", 128u << bench->port.active_mtu);
    const struct plan plan = {.mtu = mtu};
    connect_pair(bench, &plan);
    EQUAL(post_receive(bench, bench->b, kRegion / 2), 0);
    transfer(bench, bench->a, IBV_WR_SEND, 20000);
    STATUS(completion(bench), IBV_WC_SUCCESS);
    STATUS(completion(bench), IBV_WC_SUCCESS);
    CHECK(same_bytes(bench, 0, kRegion / 2, 20000));
  }
}

static void immediate(void) {
  struct bench *bench = connected(NULL);
  EQUAL(post_receive(bench, bench->b, 64), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_SEND_WITH_IMM, 10);
  wr.imm_data = htonl(0x12345678);
  EQUAL(post(bench->a, &wr), 0);
  const struct ibv_wc wc = completion_of(bench, bench->b);
  STATUS(wc, IBV_WC_SUCCESS);
  CHECK((wc.wc_flags & IBV_WC_WITH_IMM) != 0);
  EQUAL(ntohl(wc.imm_data), 0x12345678);
  EQUAL(wc.byte_len, 10);
}

static void gathers_and_scatters(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge from[3] = {piece(bench, 0, 100), piece(bench, 100, 1), piece(bench, 101, 899)};
  struct ibv_sge to[2] = {piece(bench, kRegion / 2, 3), piece(bench, kRegion / 2 + 3, 997)};
  struct ibv_recv_wr receive = {.wr_id = 5, .sg_list = to, .num_sge = 2}, *bad_receive = NULL;
  EQUAL(ibv_post_recv(bench->b, &receive, &bad_receive), 0);
  struct ibv_send_wr wr = {
      .wr_id = 6, .sg_list = from, .num_sge = 3, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  CHECK(same_bytes(bench, 0, kRegion / 2, 1000));
}

static void inline_data(void) {
  const struct plan plan = {.inline_data = 64};
  struct bench *bench = connected(&plan);
  EQUAL(post_receive(bench, bench->b, 64), 0);
  char text[64] = "the memory of inline data needs no region";
  struct ibv_sge sge = {address(text), sizeof text, 0xffffffff};
  struct ibv_send_wr wr = {.wr_id = 1,
                           .sg_list = &sge,
                           .num_sge = 1,
                           .opcode = IBV_WR_SEND,
                           .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
  EQUAL(post(bench->a, &wr), 0);
  memset(text, 0, sizeof text);  // and is free at once
  STATUS(completion(bench), IBV_WC_SUCCESS);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  EQUAL(strcmp((char *)far_at(bench, 0), "the memory of inline data needs no region"), 0);
}

static void too_much_inline_data(void) {
  const struct plan plan = {.inline_data = 64};
  struct bench *bench = connected(&plan);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_SEND, 60000);
  wr.send_flags |= IBV_SEND_INLINE;
  EITHER(post(bench->a, &wr), EINVAL, ENOMEM);
}

static void write(void) {
  struct bench *bench = connected(NULL);
  transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 5000);
  const struct ibv_wc wc = completion(bench);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(wc.opcode, IBV_WC_RDMA_WRITE);
  CHECK(same_bytes(bench, 0, kRegion / 2, 5000));
  CHECK(silent(bench));
}

static void write_with_immediate(void) {
  struct bench *bench = connected(NULL);
  EQUAL(post_receive(bench, bench->b, 0), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE_WITH_IMM, 3000);
  wr.imm_data = htonl(7);
  EQUAL(post(bench->a, &wr), 0);
  const struct ibv_wc wc = completion_of(bench, bench->b);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EQUAL(wc.byte_len, 3000);
  EQUAL(ntohl(wc.imm_data), 7);
  CHECK(same_bytes(bench, 0, kRegion / 2, 3000));
}

static void read_data(void) {
  struct bench *bench = connected(NULL);
  memset(bench->memory, 0, 40000);
  transfer(bench, bench->a, IBV_WR_RDMA_READ, 40000);
  const struct ibv_wc wc = completion(bench);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(wc.opcode, IBV_WC_RDMA_READ);
  EQUAL(wc.byte_len, 40000);
  CHECK(same_bytes(bench, 0, kRegion / 2, 40000));
}

static void empty_transfers_check_no_key(void) {
  struct bench *bench = connected(NULL);
  static const enum ibv_wr_opcode kOpcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
  for (int i = 0; i < 2; ++i) {
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, kOpcodes[i], 0);
    wr.num_sge = 0;
    wr.wr.rdma.rkey = 0xdeadbeef;
    EQUAL(post(bench->a, &wr), 0);
    STATUS(completion(bench), IBV_WC_SUCCESS);
  }
}

static void unsignaled_requests_complete_silently(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 8);
  wr.send_flags = 0;
  for (int i = 0; i < 3; ++i) EQUAL(post(bench->a, &wr), 0);
  wr.wr_id = 9;
  wr.send_flags = IBV_SEND_SIGNALED;
  EQUAL(post(bench->a, &wr), 0);
  EQUAL(completion(bench).wr_id, 9);
  CHECK(silent(bench));
}

static void all_requests_signaled(void) {
  const struct plan plan = {.sq_sig_all = 1};
  struct bench *bench = connected(&plan);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 8);
  wr.send_flags = 0;
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion(bench), IBV_WC_SUCCESS);
}

static void completions_come_in_order(void) {
  struct bench *bench = connected(NULL);
  static const enum ibv_wr_opcode kOpcodes[] = {IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_SEND};
  for (uint64_t i = 0; i < 30; ++i) {
    if (i % 3 == 2) EQUAL(post_receive(bench, bench->b, 4096), 0);
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, kOpcodes[i % 3], 2000);
    wr.wr_id = i;
    EQUAL(post(bench->a, &wr), 0);
  }
  for (uint64_t i = 0; i < 30; ++i) {
    const struct ibv_wc wc = completion_of(bench, bench->a);
    STATUS(wc, IBV_WC_SUCCESS);
    EQUAL(wc.wr_id, i);
  }
}

static void a_fence_waits_for_reads(void) {
  struct bench *bench = connected(NULL);
  memset(bench->memory, 0, 8192);
  *far_at(bench, 0) = 0x77;
  struct ibv_sge sges[2];
  struct ibv_send_wr read = request(bench, &sges[0], IBV_WR_RDMA_READ, 8192);
  struct ibv_send_wr write_back = request(bench, &sges[1], IBV_WR_RDMA_WRITE, 1);
  write_back.wr.rdma.remote_addr = address(far_at(bench, 30000));
  write_back.send_flags |= IBV_SEND_FENCE;
  read.next = &write_back;
  EQUAL(post(bench->a, &read), 0);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  EQUAL(*far_at(bench, 30000), 0x77);
}

static void a_list_stops_at_a_bad_request(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sges[3];
  struct ibv_send_wr wrs[3], *bad = NULL;
  for (int i = 0; i < 3; ++i) {
    wrs[i] = request(bench, &sges[i], IBV_WR_RDMA_WRITE, 8);
    wrs[i].wr_id = (uint64_t)i;
    wrs[i].next = i < 2 ? &wrs[i + 1] : NULL;
  }
  wrs[1].num_sge = 1000;
  CHECK(ibv_post_send(bench->a, wrs, &bad) != 0);
  CHECK(bad == &wrs[1]);
  EQUAL(completion(bench).wr_id, 0);
  CHECK(silent(bench));
}

static void a_full_queue(void) {
  struct bench *bench = connected(NULL);
  const uint32_t room = query(bench->b).cap.max_recv_wr;
  for (uint32_t i = 0; i < room; ++i) EQUAL(post_receive(bench, bench->b, 8), 0);
  EQUAL(post_receive(bench, bench->b, 8), ENOMEM);
}

static void uc_write_and_send(void) {
  const struct plan plan = {.type = IBV_QPT_UC};
  struct bench *bench = connected(&plan);
  EQUAL(post_receive(bench, bench->b, 5000), 0);
  transfer(bench, bench->a, IBV_WR_SEND, 5000);
  STATUS(completion_of(bench, bench->a), IBV_WC_SUCCESS);
  EQUAL(completion_of(bench, bench->b).byte_len, 5000);
  CHECK(same_bytes(bench, 0, kRegion / 2, 5000));
  transfer(bench, bench->a, IBV_WR_SEND, 100);  // no receive request: dropped
  STATUS(completion_of(bench, bench->a), IBV_WC_SUCCESS);
  EQUAL(state_of(bench->a), IBV_QPS_RTS);
  CHECK(silent(bench));
}

static const struct test_case kCases[] = {
    {"SEND of every length", sends_of_every_length},
    {"every MTU", every_mtu},
    {"immediate data", immediate},
    {"lists of pieces", gathers_and_scatters},
    {"inline data needs no region and is free at once", inline_data},
    {"more inline data than the queue has room for", too_much_inline_data},
    {"RDMA WRITE completes at the sender only", write},
    {"RDMA WRITE with immediate takes a receive request, with its own length", write_with_immediate},
    {"RDMA READ", read_data},
    {"a WRITE or READ of 0 bytes checks no key", empty_transfers_check_no_key},
    {"an unsignaled request completes silently", unsignaled_requests_complete_silently},
    {"sq_sig_all signals every request", all_requests_signaled},
    {"requests complete in their order, whatever they are", completions_come_in_order},
    {"a fence waits for the READ before it", a_fence_waits_for_reads},
    {"a list is posted up to its first bad request", a_list_stops_at_a_bad_request},
    {"a full receive queue is ENOMEM", a_full_queue},
    {"UC delivers, and drops what finds no receive request", uc_write_and_send},
};
GROUP(data_group, "data", kCases);
