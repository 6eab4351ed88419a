#define _GNU_SOURCE
#include "requests.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { OUTCOMES = 64 };

static struct {
  char name[48];
  int count;
} outcomes[OUTCOMES];
static int kinds;
static char strange[128];

static void count(const char *name, const char *outcome) {
  char key[sizeof outcomes->name];
  snprintf(key, sizeof key, "%s %s", name, outcome);
  int i = 0;
  while (i < kinds && strcmp(outcomes[i].name, key) != 0) i++;
  if (i == OUTCOMES) return;
  if (i == kinds) strcpy(outcomes[kinds++].name, key);
  outcomes[i].count++;
}

// What the call returned; without memory or descriptors it may be NULL, with the error in errno.
static void *noted(const char *name, void *object) {
  const int error = errno;
  const char *code = strerrorname_np(error);
  count(name, object ? "ok" : code ? code : "no error");
  if (!object && error != ENOMEM && error != EMFILE)
    snprintf(strange, sizeof strange, "%s fails with %s", name, code ? code : "no error");
  errno = 0;
  return object;
}

static void must(const char *name, int error) {
  if (error) snprintf(strange, sizeof strange, "%s fails with %s", name, strerrorname_np(error));
}

static struct ibv_context *open_device(const char *name) {
  struct ibv_device **list = noted("list", ibv_get_device_list(NULL));
  if (!list) return NULL;
  struct ibv_context *context = NULL;
  for (struct ibv_device **device = list; *device && !context; device++) {
    if (strcmp(ibv_get_device_name(*device), name) == 0) context = noted("open", ibv_open_device(*device));
  }
  ibv_free_device_list(list);
  return context;
}

static void with_pd(struct ibv_pd *pd, struct ibv_cq *cq, size_t bytes) {
  struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {4096, 4096, 16, 16, 0}, .send_cq = cq, .recv_cq = cq};
  struct ibv_qp *qp = cq ? noted("qp", ibv_create_qp(pd, &attr)) : NULL;
  struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4096, .max_sge = 16}};
  struct ibv_srq *srq = noted("srq", ibv_create_srq(pd, &srq_attr));
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) memory = NULL;
  noted("memory", memory);
  struct ibv_mr *mr = memory ? noted("mr", ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE)) : NULL;
  static char small[8192];
  struct ibv_mr *small_mr = noted("small mr", ibv_reg_mr(pd, small, sizeof small, IBV_ACCESS_LOCAL_WRITE));
  if (small_mr) must("ibv_dereg_mr", ibv_dereg_mr(small_mr));
  if (mr) must("ibv_dereg_mr", ibv_dereg_mr(mr));
  if (memory) munmap(memory, bytes);
  if (srq) must("ibv_destroy_srq", ibv_destroy_srq(srq));
  if (qp) must("ibv_destroy_qp", ibv_destroy_qp(qp));
}

static void one_round(const char *device, size_t bytes) {
  struct ibv_context *context = open_device(device);
  if (!context) return;
  struct ibv_pd *pd = noted("pd", ibv_alloc_pd(context));
  struct ibv_comp_channel *channel = noted("channel", ibv_create_comp_channel(context));
  struct ibv_cq *cq = channel ? noted("cq", ibv_create_cq(context, 4096, NULL, channel, 0)) : NULL;
  if (pd) with_pd(pd, cq, bytes);
  if (cq) must("ibv_destroy_cq", ibv_destroy_cq(cq));
  if (channel) must("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel));
  if (pd) must("ibv_dealloc_pd", ibv_dealloc_pd(pd));
  must("ibv_close_device", ibv_close_device(context));
}

void print_requests(const char *device, int rounds, int megabytes) {
  kinds = 0;
  strange[0] = 0;
  memset(outcomes, 0, sizeof outcomes);
  for (int i = 0; i < rounds; i++) one_round(device, (size_t)megabytes << 20);
  printf("{\"outcomes\":{");
  for (int i = 0; i < kinds; i++) printf("%s\"%s\":%d", i ? "," : "", outcomes[i].name, outcomes[i].count);
  printf("},\"strange\":[");
  if (strange[0]) printf("\"%s\"", strange);
  printf("]}");
}
