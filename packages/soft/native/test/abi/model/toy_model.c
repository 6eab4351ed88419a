/* A vendor's model as small as one can be: its devices have a second port and a part number, count their contexts, and
 * put a mark of four bytes between the UDP header and the RDMA packet of every frame. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_soft_extension.h"

enum { IPV4 = 20, UDP = 8, MARK = 4 };

static const struct verbs_soft_extension_table *soft;
static const uint8_t mark[MARK] = {'t', 'o', 'y', '!'};
static int open_contexts;

static int init_device(void *data, struct ibv_device *device, struct verbs_soft_identity *identity) {
  (void)data;
  const char *part = soft->device_option(device, "part");
  if (part && atoi(part) == 13) return ENOTSUP;
  identity->vendor_id = 0x70ff;
  identity->vendor_part_id = part ? (uint32_t)atoi(part) : 7;
  identity->board_id = "TOY_BOARD";
  return 0;
}

static int no_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values) {
  (void)context;
  values->raw_clock.tv_sec = 4711;
  return 0;
}

static void forget(void *data) { free(data); }

static int open_context(void *data, struct ibv_context *context) {
  (void)data;
  verbs_get_ctx(context)->query_rt_values = no_query_rt_values;
  int *number = malloc(sizeof *number);
  if (!number) return ENOMEM;
  *number = ++open_contexts;
  soft->set_data(context, VERBS_SOFT_CONTEXT, number, forget);
  return 0;
}

static void close_context(void *data, struct ibv_context *context) {
  (void)data;
  (void)context;
  --open_contexts;
}

static void resize(uint8_t *frame, int by) {
  const unsigned ip = (unsigned)(frame[2] << 8 | frame[3]) + (unsigned)by;
  const unsigned udp = (unsigned)(frame[IPV4 + 4] << 8 | frame[IPV4 + 5]) + (unsigned)by;
  frame[2] = (uint8_t)(ip >> 8);
  frame[3] = (uint8_t)ip;
  frame[IPV4 + 4] = (uint8_t)(udp >> 8);
  frame[IPV4 + 5] = (uint8_t)udp;
}

static uint32_t egress(void *data, struct ibv_device *device, uint8_t port_num, uint8_t *frame, uint32_t size,
                       uint32_t capacity) {
  (void)data;
  (void)port_num;
  if (!soft->device_kind(device) || size + MARK > capacity) return 0;
  for (uint32_t i = size; i-- > IPV4 + UDP;) frame[i + MARK] = frame[i];
  for (uint32_t i = 0; i < MARK; ++i) frame[IPV4 + UDP + i] = mark[i];
  resize(frame, MARK);
  return size + MARK;
}

static uint32_t ingress(void *data, struct ibv_device *device, uint8_t port_num, uint8_t *frame, uint32_t size,
                        uint32_t capacity) {
  (void)data;
  (void)device;
  (void)port_num;
  (void)capacity;
  if (size < IPV4 + UDP + MARK || memcmp(frame + IPV4 + UDP, mark, MARK) != 0) return 0;
  for (uint32_t i = IPV4 + UDP; i + MARK < size; ++i) frame[i] = frame[i + MARK];
  resize(frame, -MARK);
  return size - MARK;
}

int verbs_soft_model_load(verbs_soft_extension_function extension) {
  static const char *const options[] = {"part", NULL};
  static const struct verbs_soft_model model = {
      .kind = "toy",
      .default_device = "toy0",
      .defaults = "ports=2,max_qp=100",
      .option_names = options,
      .init_device = init_device,
      .open_context = open_context,
      .close_context = close_context,
      .egress = egress,
      .ingress = ingress,
  };
  soft = extension(VERBS_SOFT_EXTENSION_VERSION);
  return soft ? soft->register_model(&model) : ENOSYS;
}
