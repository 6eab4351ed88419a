// Calls that are refused, each by its name: refused-objects CALL. The status is 3 if it was.
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static struct ibv_qp *queue_pair(enum ibv_qp_type type, struct ibv_cq *recv_cq) {
  struct ibv_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = recv_cq,
                                  .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                                  .qp_type = type};
  return ibv_create_qp(pd, &init);
}

static int refuses(const char *call) {
  const union ibv_gid one = {.raw = {[10] = 0xff, 0xff, 192, 0, 2, 1}};
  const union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 1, 2, 3}};
  if (!strcmp(call, "no-cq-entries")) return !ibv_create_cq(context, 0, NULL, NULL, 0);
  if (!strcmp(call, "vector")) return !ibv_create_cq(context, 8, NULL, NULL, 999);
  if (!strcmp(call, "no-recv-cq")) return !queue_pair(IBV_QPT_RC, NULL);
  if (!strcmp(call, "large-srq")) {
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 1u << 30, .max_sge = 1}};
    return !ibv_create_srq(pd, &init);
  }
  if (!strcmp(call, "srq-without-cq")) {
    struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = 1, .max_sge = 1},
                                        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
                                        .srq_type = IBV_SRQT_XRC,
                                        .pd = pd};
    return !ibv_create_srq_ex(context, &init);
  }
  if (!strcmp(call, "group-of-connection")) return ibv_attach_mcast(queue_pair(IBV_QPT_RC, cq), &group, 0) != 0;
  if (!strcmp(call, "no-group")) return ibv_attach_mcast(queue_pair(IBV_QPT_UD, cq), &one, 0) != 0;
  if (!strcmp(call, "not-attached")) return ibv_detach_mcast(queue_pair(IBV_QPT_UD, cq), &group, 0) != 0;
  fprintf(stderr, "there is no call %s\n", call);
  return 0;
}

int main(int argc, char **argv) {
  struct ibv_device **devices = ibv_get_device_list(NULL);
  if (argc != 2 || !devices || !devices[0] || !(context = ibv_open_device(devices[0]))) return 1;
  pd = ibv_alloc_pd(context);
  cq = ibv_create_cq(context, 4, NULL, NULL, 0);
  if (!pd || !cq) return 1;
  return refuses(argv[1]) ? 3 : 1;
}
