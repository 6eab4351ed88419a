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
  static char memory[64];
  struct ibv_port_attr port;
  union ibv_gid gid;
  __be16 pkey;
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
  if (!strcmp(call, "domain-in-use")) return ibv_reg_mr(pd, memory, sizeof memory, 0) && ibv_dealloc_pd(pd) != 0;
  if (!strcmp(call, "cq-in-use")) return queue_pair(IBV_QPT_RC, cq) && ibv_destroy_cq(cq) != 0;
  if (!strcmp(call, "member")) {
    struct ibv_qp *member = queue_pair(IBV_QPT_UD, cq);
    return ibv_attach_mcast(member, &group, 0) == 0 && ibv_destroy_qp(member) != 0;
  }
  if (!strcmp(call, "channel-in-use")) {
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    return ibv_create_cq(context, 4, NULL, channel, 0) && ibv_destroy_comp_channel(channel) != 0;
  }
  if (!strcmp(call, "smaller-cq")) return ibv_resize_cq(cq, -1) != 0;
  if (!strcmp(call, "large-dm")) {
    struct ibv_alloc_dm_attr attr = {.length = 1u << 30};
    return !ibv_alloc_dm(context, &attr);
  }
  if (!strcmp(call, "dm-alignment")) {
    struct ibv_alloc_dm_attr attr = {.length = 64, .log_align_req = 40};
    return !ibv_alloc_dm(context, &attr);
  }
  if (!strcmp(call, "window-type")) return !ibv_alloc_mw(pd, (enum ibv_mw_type)9);
  if (!strcmp(call, "port")) return ibv_query_port(context, 9, &port) != 0;
  if (!strcmp(call, "gid")) return ibv_query_gid(context, 1, 999, &gid) != 0;
  if (!strcmp(call, "gid-port")) return ibv_query_gid(context, 3, 0, &gid) != 0;
  if (!strcmp(call, "pkey")) return ibv_query_pkey(context, 1, 5, &pkey) != 0;
  if (!strcmp(call, "address-port")) {
    struct ibv_ah_attr attr = {.is_global = 1, .grh.dgid = one, .port_num = 2};
    return !ibv_create_ah(pd, &attr);
  }
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
