#include "run.h"

#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Milliseconds: emulation on a loaded machine is slow, and so is recovery from losses.
enum { PATIENCE = 120000 };

static union ibv_gid gid_of(const char *address) {
  union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};
  if (inet_pton(AF_INET, address, gid.raw + 12) != 1 && inet_pton(AF_INET6, address, gid.raw) != 1) {
    errx(2, "%s is no address", address);
  }
  return gid;
}

static int index_of(struct ibv_context *context, const union ibv_gid *gid) {
  struct ibv_gid_entry entries[64];
  const ssize_t count = ibv_query_gid_table(context, entries, 64, 0);
  for (ssize_t i = 0; i < count; ++i) {
    if (entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 && memcmp(&entries[i].gid, gid, sizeof *gid) == 0) {
      return (int)entries[i].gid_index;
    }
  }
  return -1;
}

void end_open(struct end *end, const char *device, const char *address) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  for (int i = 0; list != NULL && list[i] != NULL; ++i) {
    if (strcmp(ibv_get_device_name(list[i]), device) == 0) end->context = ibv_open_device(list[i]);
  }
  if (end->context == NULL) errx(2, "there is no device %s", device);
  ibv_free_device_list(list);
  end->ipv6 = strchr(address, ':') != NULL;
  end->gid = gid_of(address);
  end->gid_index = index_of(end->context, &end->gid);
  if (end->gid_index < 0) errx(2, "%s has no GID of %s", device, address);
  if (ibv_query_port(end->context, 1, &end->port) != 0) err(2, "ibv_query_port");
  end->pd = ibv_alloc_pd(end->context);
  end->channel = ibv_create_comp_channel(end->context);
  end->out = aligned_alloc(4096, 2 * (size_t)HALF);
  if (end->pd == NULL || end->channel == NULL || end->out == NULL) err(2, "the objects of %s", device);
  memset(end->out, 0, 2 * (size_t)HALF);
  end->in = end->out + HALF;
  end->mr = ibv_reg_mr(end->pd, end->out, 2 * (size_t)HALF, ACCESS);
  if (end->mr == NULL) err(2, "ibv_reg_mr");
}

void fail(struct run *run, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(run->failure, sizeof run->failure, format, list);
  va_end(list);
  longjmp(run->leave, 1);
}

// Also frees what a failed case left.
static void destroy_objects(struct run *run) {
  if (run->ah != NULL) ibv_destroy_ah(run->ah);
  if (run->qp != NULL) ibv_destroy_qp(run->qp);
  if (run->mw != NULL) ibv_dealloc_mw(run->mw);
  if (run->srq != NULL) ibv_destroy_srq(run->srq);
  if (run->cq != NULL) ibv_destroy_cq(run->cq);
}

const char *run_case(struct end *end, struct exchange *exchange, bool active, const struct interop_case *which) {
  static char text[2 * OUTCOME_TEXT + 32];
  struct run run = {.end = end, .exchange = exchange, .active = active};
  if (setjmp(run.leave) == 0) {
    run.cq = ibv_create_cq(end->context, 1024, NULL, end->channel, 0);
    if (run.cq == NULL) fail(&run, "ibv_create_cq");
    which->run(&run, which->argument);
  }
  exchange_outcome(exchange, run.failure);
  destroy_objects(&run);
  if (run.failure[0] == 0 && exchange->peer_text[0] == 0) return NULL;
  const char *side = active ? "active" : "passive";
  snprintf(text, sizeof text, "%s: %s; peer: %s", side, run.failure[0] != 0 ? run.failure : "passed",
           exchange->peer_text[0] != 0 ? exchange->peer_text : "passed");
  return text;
}

void swap(struct run *run, const void *mine, void *theirs, size_t size) {
  if (!exchange_swap(run->exchange, mine, theirs, size)) fail(run, "left because the peer did");
}

void meet(struct run *run) {
  const char mine = 'm';
  char theirs;
  swap(run, &mine, &theirs, 1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static bool poll_for(struct run *run, int milliseconds, struct ibv_wc *wc) {
  const int64_t end = now() + milliseconds;
  for (unsigned turn = 0;; ++turn) {
    const int count = ibv_poll_cq(run->cq, 1, wc);
    if (count < 0) fail(run, "ibv_poll_cq returned %d", count);
    if (count == 1) return true;
    if (now() >= end) return false;
    // The peer's emulated processors need the host's.
    if (turn > 200) usleep(50);
  }
}

struct ibv_wc next_completion(struct run *run) {
  struct ibv_wc wc;
  if (!poll_for(run, PATIENCE, &wc)) fail(run, "no completion in %d s", PATIENCE / 1000);
  return wc;
}

struct ibv_wc next_success(struct run *run) {
  const struct ibv_wc wc = next_completion(run);
  if (wc.status != IBV_WC_SUCCESS) fail(run, "request %d: %s", (int)wc.wr_id, ibv_wc_status_str(wc.status));
  return wc;
}

void no_completion(struct run *run, int milliseconds) {
  struct ibv_wc wc;
  if (poll_for(run, milliseconds, &wc)) fail(run, "an unexpected completion: %s", ibv_wc_status_str(wc.status));
}

static uint8_t byte_at(size_t place, unsigned seed) {
  const uint32_t value = ((uint32_t)place + seed * 40503u + 1) * 2654435761u;
  return (uint8_t)(value >> 24);
}

void fill(uint8_t *memory, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; ++i) memory[i] = byte_at(i, seed);
}

void check_bytes(struct run *run, const uint8_t *memory, size_t size, unsigned seed, const char *what) {
  for (size_t i = 0; i < size; ++i) {
    if (memory[i] != byte_at(i, seed)) fail(run, "%s: byte %zu of %zu is wrong", what, i, size);
  }
}
