// Traffic of an RC connection, of which every byte is compared: SEND, WRITE with immediate, READ and FETCH AND ADD,
// with messages of one packet and of several.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "end.h"
#include "pattern.h"

enum { RECEIVE_ID = 1000, BURST = 64, BATCH = 16 };

static struct ibv_sge element(const struct end *end, uint32_t slot, uint32_t length) {
  return (struct ibv_sge){(uintptr_t)end->memory.tx + slot * LONGEST, length, end->memory.tx_mr->lkey};
}

static struct ibv_sge filled(const struct end *end, uint32_t slot, const uint8_t *bytes, uint32_t length) {
  memcpy(end->memory.tx + slot * LONGEST, bytes, length);
  return element(end, slot, length);
}

static const char *receive(struct end *end, uint32_t slot) {
  struct ibv_sge sge = {(uintptr_t)end->memory.rx + slot * LONGEST, LONGEST, end->memory.rx_mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = RECEIVE_ID + slot, .sg_list = &sge, .num_sge = 1}, *bad;
  const int error = ibv_post_recv(end->qp, &wr, &bad);
  if (error) tally_error(&end->tally, strerrorname_np(errno = error));
  return error ? "ibv_post_recv" : NULL;
}

const char *end_receive_all(struct end *end) {
  const char *failed = NULL;
  for (uint32_t slot = 0; slot < RECEIVES && !failed; slot++) failed = receive(end, slot);
  return failed;
}

static void compare(struct end *end, const char *what, const uint8_t *bytes, const uint8_t *expected, uint32_t length,
                    uint32_t arrived) {
  if (arrived != length)
    tally_wrong(&end->tally, "%s has %u bytes instead of %u", what, arrived, length);
  else if (memcmp(bytes, expected, length) != 0)
    tally_wrong(&end->tally, "%s has wrong bytes", what);
  else
    end->tally.bytes += length;
}

static void post(struct end *end, uint32_t slot, struct ibv_send_wr wr, struct ibv_sge sge) {
  struct ibv_send_wr *bad;
  wr.wr_id = slot;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  const int error = ibv_post_send(end->qp, &wr, &bad);
  if (!error) {
    end->pending++;
    return;
  }
  end->requests[slot].work = FREE;
  tally_error(&end->tally, strerrorname_np(error));
}

static void read_back(struct end *end, uint32_t slot, uint64_t remote) {
  struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ};
  wr.wr.rdma.remote_addr = remote;
  wr.wr.rdma.rkey = end->peer.rkey;
  post(end, slot, wr, element(end, slot, end->requests[slot].length));
}

static void read_somewhere(struct end *end, uint32_t slot) {
  struct request *request = &end->requests[slot];
  request->work = READ;
  request->length = 1 + pattern_random(&end->random) % LONGEST;
  const uint32_t offset = pattern_random(&end->random) % (READABLE - request->length);
  request->bytes = pattern_readable(1 - end->me) + offset;
  read_back(end, slot, peer_readable(&end->peer) + offset);
}

static void write_and_read(struct end *end, uint32_t slot) {
  struct request *request = &end->requests[slot];
  request->work = WRITE_FIRST;
  const uint32_t number = pattern_random(&end->random) >> 12;
  request->bytes = pattern_message(end->me, number, SLOT, &request->length);
  struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
  wr.wr.rdma.remote_addr = peer_sink(&end->peer, slot);
  wr.wr.rdma.rkey = end->peer.rkey;
  post(end, slot, wr, filled(end, slot, request->bytes, request->length));
}

// The counter is changed by this end alone.
static void add(struct end *end, uint32_t slot) {
  end->requests[slot] = (struct request){.work = ADD, .expected = end->added++};
  struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
  wr.wr.atomic.remote_addr = peer_counter(&end->peer);
  wr.wr.atomic.rkey = end->peer.rkey;
  wr.wr.atomic.compare_add = 1;
  post(end, slot, wr, element(end, slot, 8));
}

static void send_message(struct end *end, uint32_t slot, bool write) {
  const uint32_t number = end->sent++;
  uint32_t length;
  const uint8_t *bytes = pattern_message(end->me, number, write ? SLOT : LONGEST, &length);
  end->requests[slot].work = MESSAGE;
  struct ibv_send_wr wr = {.opcode = write ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND};
  if (write) {
    wr.imm_data = htonl(number);
    wr.wr.rdma.remote_addr = peer_window(&end->peer, number);
    wr.wr.rdma.rkey = end->peer.rkey;
  }
  post(end, slot, wr, filled(end, slot, bytes, length));
}

// Fills the send queue. Returns the number of requests.
static uint32_t send_more(struct end *end) {
  uint32_t posted = 0;
  for (uint32_t slot = 0; slot < DEPTH; slot++) {
    if (end->stopped || end->tally.errors > 0 || end->sent >= end->limit) break;
    if (end->requests[slot].work != FREE) continue;
    const uint32_t choice = pattern_random(&end->random) % 10;
    if (choice < 7)
      send_message(end, slot, choice >= 5);
    else if (choice == 7)
      read_somewhere(end, slot);
    else if (choice == 8)
      write_and_read(end, slot);
    else
      add(end, slot);
    posted++;
  }
  return posted;
}

static void completed(struct end *end, uint32_t slot, bool ok) {
  struct request *request = &end->requests[slot];
  const uint8_t *memory = end->memory.tx + slot * LONGEST;
  const enum work work = request->work;
  end->pending--;
  request->work = FREE;
  if (work == FREE) tally_wrong(&end->tally, "request %u completed twice", slot);
  if (!ok) return;
  if (work == READ || work == READ_BACK) {
    compare(end, "a READ", memory, request->bytes, request->length, request->length);
  } else if (work == WRITE_FIRST) {
    request->work = READ_BACK;
    read_back(end, slot, peer_sink(&end->peer, slot));
  } else if (work == ADD) {
    uint64_t was;
    memcpy(&was, memory, sizeof was);
    if (was != request->expected)
      tally_wrong(&end->tally, "an atomic found %llu instead of %llu", (unsigned long long)was,
                  (unsigned long long)request->expected);
    else
      end->tally.bytes += sizeof was;
  }
}

static void received(struct end *end, uint32_t slot, const struct ibv_wc *wc) {
  const uint32_t number = end->received++;
  const bool write = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  uint32_t length;
  const uint8_t *expected = pattern_message(1 - end->me, number, write ? SLOT : LONGEST, &length);
  const uint8_t *place = write ? end->memory.window + slot_of(number) : end->memory.rx + slot * LONGEST;
  if (write && ntohl(wc->imm_data) != number)
    tally_wrong(&end->tally, "message %u has the immediate %u", number, ntohl(wc->imm_data));
  compare(end, write ? "a WRITE" : "a SEND", place, expected, length, wc->byte_len);
  receive(end, slot);
}

static void handle(struct end *end, const struct ibv_wc *wc) {
  const bool ok = wc->status == IBV_WC_SUCCESS;
  if (!ok) tally_status(&end->tally, wc->status);
  if (wc->wr_id >= RECEIVE_ID) {
    if (ok) received(end, (uint32_t)wc->wr_id - RECEIVE_ID, wc);
  } else {
    completed(end, (uint32_t)wc->wr_id, ok);
  }
}

// One look at the completion queue. Returns what there was.
static int progress(struct end *end, uint32_t *posted) {
  struct ibv_wc wcs[BATCH];
  pthread_mutex_lock(&end->lock);
  const int count = ibv_poll_cq(end->cq, BATCH, wcs);
  if (count < 0) tally_wrong(&end->tally, "ibv_poll_cq: %d", count);
  for (int i = 0; i < count; i++) handle(end, &wcs[i]);
  *posted += send_more(end);
  pthread_mutex_unlock(&end->lock);
  return count;
}

// Until the next event, and not for ever: other threads start and end the traffic.
static void wait_for_event(struct end *end) {
  struct pollfd descriptor = {.fd = end->channel->fd, .events = POLLIN};
  if (poll(&descriptor, 1, 5) < 1) return;
  struct ibv_cq *cq;
  void *context;
  if (ibv_get_cq_event(end->channel, &cq, &context)) return;
  ibv_ack_cq_events(cq, 1);
  const int error = ibv_req_notify_cq(end->cq, 0);
  if (error) tally_wrong(&end->tally, "ibv_req_notify_cq: %s", strerrorname_np(error));
}

void *end_traffic(void *argument) {
  struct end *end = argument;
  const struct timespec rest = {.tv_nsec = 500000};
  uint32_t posted = 0;
  for (int idle = 0;;) {
    pthread_mutex_lock(&end->lock);
    const bool closed = end->closed;
    pthread_mutex_unlock(&end->lock);
    if (closed) return NULL;
    idle = progress(end, &posted) > 0 ? 0 : idle + 1;
    // Other processes of the machine want to run, too.
    if (posted >= BURST || (end->polls && idle > 50)) {
      posted = 0;
      nanosleep(&rest, NULL);
    } else if (!end->polls && idle > 0) {
      wait_for_event(end);
    }
  }
}
