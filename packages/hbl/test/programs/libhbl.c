/* A libhbl for tests, without a device behind it: of the Gaudi SDK with SDK defined, else of the submission of 2024.
 * Its structures have the sizes of the one library or the other, and it writes all of each. */
#include <stdint.h>
#include <string.h>

struct device_attr {
  uint64_t caps;
#ifdef SDK
  uint8_t num_ports;
  uint64_t ext_ports_mask, hw_ports_mask;
#else
  uint64_t ports_mask;
#endif
};

int hbldv_query_device(void *context, struct device_attr *attr) {
  (void)context;
  memset(attr, 0xaa, sizeof *attr); /* padding too */
  attr->caps = 3;
#ifdef SDK
  attr->num_ports = 3;
  attr->ext_ports_mask = 0x8;
  attr->hw_ports_mask = 0xe;
#else
  attr->ports_mask = 0x6;
#endif
  return 0;
}

/* What the last modify was given: the caps, byte 37 and the pointer at 48. */
static uint64_t last[3];
int hbldv_modify_qp(void *qp, void *attr, int mask, const uint8_t *hbl) {
  (void)qp, (void)attr, (void)mask;
  memset(last, 0, sizeof last);
  if (!hbl) return 0;
  memcpy(&last[0], hbl, 8);
  last[1] = hbl[37];
#ifdef SDK
  if (last[0] & 0x40) memcpy(&last[2], hbl + 48, 8);
#endif
  return 0;
}
const uint64_t *last_modify(void) { return last; }

#ifdef SDK
int hbldv_migrate_qp(void *qp) { return last[2] == (uintptr_t)qp ? 0 : 22; }
struct coll_qp_attr {
  uint8_t is_scale_out;
  uint64_t ports_mask;
};
int hbldv_reserve_coll_qps(void *pd, const struct coll_qp_attr *attr, uint32_t *qp_num) {
  (void)pd;
  *qp_num = 1000 * attr->is_scale_out + (uint32_t)attr->ports_mask;
  return 0;
}
struct resource {
  uint32_t type;
  uint8_t id;
  size_t size;
  uint32_t pa_offs;
  void *virt_addr;
};
struct resources {
  int num_resources;
  struct resource resource[256];
};
int hbldv_reserve_coll_sched_resources(void *context, struct resources *resources) {
  (void)context;
  memset(resources, 0xaa, sizeof *resources);
  resources->num_resources = 256;
  for (int i = 0; i < 256; i++)
    resources->resource[i] = (struct resource){i % 13, i, 4096, 64 * i, (void *)0x7000000000};
  return 0;
}
#endif

/* The rest of the 13. */
#define NONE(name) \
  int name(void) { return 95; }
NONE(hbldv_set_port_ex)
NONE(hbldv_query_port)
NONE(hbldv_destroy_usr_fifo)
NONE(hbldv_destroy_encap)
NONE(hbldv_query_cq)
NONE(hbldv_query_qp)
_Bool hbldv_is_supported(void *device) { return device == 0; }
#define NULL_OF(name) \
  void *name(void) { return 0; }
NULL_OF(hbldv_open_device)
NULL_OF(hbldv_create_usr_fifo)
NULL_OF(hbldv_create_encap)
NULL_OF(hbldv_create_cq)
