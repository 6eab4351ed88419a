// Completion events and asynchronous events (IBTA 11.4.2, 11.6.3; ibv_req_notify_cq(3), ibv_get_async_event(3)).
#include <fcntl.h>
#include <poll.h>

#include "harness.h"

static const struct plan kEvents = {.events = true};

// Whether an event comes within a while; it is acknowledged.
static bool comes(struct bench *bench, int milliseconds) {
  struct pollfd entry = {bench->channel->fd, POLLIN, 0};
  if (poll(&entry, 1, milliseconds) <= 0) return false;
  struct ibv_cq *cq = NULL;
  void *context = NULL;
  EQUAL(ibv_get_cq_event(bench->channel, &cq, &context), 0);
  CHECK(cq == bench->cq);
  ibv_ack_cq_events(cq, 1);
  return true;
}

static void an_armed_queue_tells_once(void) {
  struct bench *bench = connected(&kEvents);
  EQUAL(ibv_req_notify_cq(bench->cq, 0), 0);
  transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 8);
  CHECK(comes(bench, 5000));
  transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 8);
  CHECK(!comes(bench, 50));
  STATUS(completion(bench), IBV_WC_SUCCESS);
  STATUS(completion(bench), IBV_WC_SUCCESS);
}

static void a_queue_that_is_not_armed_is_silent(void) {
  struct bench *bench = connected(&kEvents);
  transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 8);
  CHECK(!comes(bench, 50));
  STATUS(completion(bench), IBV_WC_SUCCESS);
}

static void solicited_events(void) {
  struct bench *bench = connected(&kEvents);
  for (int i = 0; i < 2; ++i) EQUAL(post_receive(bench, bench->b, 64), 0);
  EQUAL(ibv_req_notify_cq(bench->cq, 1), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_SEND, 8);
  wr.send_flags = 0;
  EQUAL(post(bench->a, &wr), 0);
  CHECK(!comes(bench, 50));
  wr.send_flags = IBV_SEND_SOLICITED;
  EQUAL(post(bench->a, &wr), 0);
  CHECK(comes(bench, 5000));
}

static void errors_are_solicited(void) {
  struct bench *bench = connected(&kEvents);
  EQUAL(ibv_req_notify_cq(bench->cq, 1), 0);
  EQUAL(post_receive(bench, bench->b, 64), 0);
  EQUAL(set_state(bench->b, IBV_QPS_ERR), 0);
  CHECK(comes(bench, 5000));
}

static void communication_is_established(void) {
  struct bench *bench = bench_open(NULL);
  bench->a = make_qp(bench, NULL);
  bench->b = make_qp(bench, NULL);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(to_init(bench->b, NULL), 0);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->b->qp_num), 0);
  EQUAL(to_rtr(bench, bench->b, NULL, bench->a->qp_num), 0);
  EQUAL(to_rts(bench->a, NULL), 0);
  EQUAL(post_receive(bench, bench->b, 64), 0);
  transfer(bench, bench->a, IBV_WR_SEND, 8);
  STATUS(completion_of(bench, bench->b), IBV_WC_SUCCESS);  // in RTR it receives already
  CHECK(saw_event(bench, IBV_EVENT_COMM_EST));
}

static void a_drained_queue_tells(void) {
  struct bench *bench = connected(NULL);
  transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 60000);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
  EQUAL(ibv_modify_qp(bench->a, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
  CHECK(saw_event(bench, IBV_EVENT_SQ_DRAINED));
  STATUS(completion(bench), IBV_WC_SUCCESS);
}

static void a_refused_request_tells_the_responder(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_READ, 64);
  wr.wr.rdma.rkey ^= 0x100;
  EQUAL(post(bench->a, &wr), 0);
  CHECK(saw_event(bench, IBV_EVENT_QP_ACCESS_ERR));
}

static void nothing_to_read_is_eagain(void) {
  struct bench *bench = connected(&kEvents);
  struct ibv_cq *cq = NULL;
  void *context = NULL;
  fcntl(bench->channel->fd, F_SETFL, fcntl(bench->channel->fd, F_GETFL) | O_NONBLOCK);
  EQUAL(ibv_get_cq_event(bench->channel, &cq, &context), -1);
  struct ibv_async_event event;
  fcntl(bench->context->async_fd, F_SETFL, fcntl(bench->context->async_fd, F_GETFL) | O_NONBLOCK);
  EQUAL(ibv_get_async_event(bench->context, &event), -1);
}

static const struct test_case kCases[] = {
    {"an armed queue tells of one completion", an_armed_queue_tells_once},
    {"a queue that is not armed is silent", a_queue_that_is_not_armed_is_silent},
    {"solicited completions only", solicited_events},
    {"an error counts as solicited", errors_are_solicited},
    {"COMM_EST for a packet in RTR", communication_is_established},
    {"SQ_DRAINED", a_drained_queue_tells},
    {"QP_ACCESS_ERR at the responder", a_refused_request_tells_the_responder},
    {"without an event a non-blocking read fails", nothing_to_read_is_eagain},
};
GROUP(events_group, "events", kCases);
