/* Options. */
#include <infiniband/sa.h>

#include "case.h"

static int set_size(struct rdma_cm_id *id, int level, int name, size_t size, int value) {
  char bytes[64] = {(char)value};
  return rdma_set_option(id, level, name, bytes, size);
}

static void names(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  TRY(set_size(id, 2, 0, 1, 0));
  TRY(set_size(id, -1, 0, 1, 0));
  TRY(set_size(id, RDMA_OPTION_ID, 99, 1, 0));
  TRY(set_size(id, RDMA_OPTION_ID, -1, 1, 0));
  TRY(set_size(id, RDMA_OPTION_IB, 99, 1, 0));
}

static void sizes(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0, 0));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4, 0));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, 4));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1, 0));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 8, 0));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, 1));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1, 0));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 4, 1));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 4, 0));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 14));
}

static void no_value(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  TRY(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 1));
}

static void no_id(void) { TRY(set_size(NULL, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, 0)); }

static void values(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 31));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 32));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 0));
  TRY(set_size(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, 255));
  TRY(set_size(new_id(RDMA_PS_UDP), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 14));
}

static void states(void) {
  struct rdma_cm_id *bound = bound_id(RDMA_PS_TCP, own4(0)), *listening = listening_id(RDMA_PS_TCP, 0),
                    *resolved = route_resolved_id(RDMA_PS_TCP, 7000), *client = connected().client;
  struct rdma_cm_id *each[] = {bound, listening, resolved, client};
  for (int i = 0; i < 4; ++i) {
    TRY(set_size(each[i], RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1, 4));
    TRY(set_size(each[i], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, 1));
    TRY(set_size(each[i], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4, 0));
    TRY(set_size(each[i], RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 4, 1));
    TRY(set_size(each[i], RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 14));
  }
}

static void paths(void) {
  struct ibv_path_data path = {.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL};
  TRY(rdma_set_option(new_id(RDMA_PS_TCP), RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path));
  struct rdma_cm_id *id = address_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, 0));
  TRY(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, 5));
}

const struct test_case option_cases[] = {
    {"option: levels and names", names},
    {"option: sizes", sizes},
    {"option: no value", no_value},
    {"option: no identifier", no_id},
    {"option: values", values},
    {"option: in each state", states},
    {"option: paths", paths},
    {0},
};
