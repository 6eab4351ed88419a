/* A libhbl for tests: of the Gaudi SDK with SDK defined, else of the submission of 2024. Its structures have the sizes
 * of the one library or the other, and it writes all of each, with LONGER bytes more.
 *
 * With VERBS, the path of a libibverbs, it has the devices of that, and brings its functions under the names hlibv_*.
 * Without there is no device behind it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef LONGER
#define LONGER 0
#endif
static void fill(void *structure, size_t size) { memset(structure, 0xaa, size + LONGER); /* padding too */ }

struct device_attr {
  uint64_t caps;
#ifdef SDK
  uint8_t num_ports;
  uint64_t ext_ports_mask, hw_ports_mask;
#else
  uint64_t ports_mask;
#endif
};

struct qp_attr {
  uint64_t caps;
  uint8_t more[40];
  void *qp_to_migrate;
};

int hbldv_query_device(void *context, struct device_attr *attr) {
  (void)context;
  fill(attr, sizeof *attr);
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

#ifdef SDK
/* The queue pair that the last call was given with cap MIGRATE. */
static void *migrated;
int hbldv_modify_qp(void *qp, void *attr, int mask, const struct qp_attr *hbl) {
  (void)qp, (void)attr, (void)mask;
  migrated = hbl && (hbl->caps & 0x40) ? hbl->qp_to_migrate : NULL;
  return 0;
}
#else
int hbldv_modify_qp(void) { return 0; }
#endif

#ifdef SDK
int hbldv_migrate_qp(void *qp) { return migrated == qp ? 0 : EINVAL; }
struct coll_qp_attr {
  uint8_t is_scale_out;
  uint64_t ports_mask;
};
int hbldv_reserve_coll_qps(void *pd, const struct coll_qp_attr *attr, uint32_t *qp_num) {
  (void)pd;
  fill(qp_num, sizeof *qp_num);
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
  fill(resources, sizeof *resources);
  resources->num_resources = 256;
  for (int i = 0; i < 256; i++)
    resources->resource[i] = (struct resource){i % 13, i, 4096, 64 * i, (void *)0x7000000000};
  return 0;
}
#endif

struct query_port_attr {
  uint32_t word[9];
  uint8_t byte[6];
};
/* Each member has the number of its place. */
int hbldv_query_port(void *context, uint32_t port_num, struct query_port_attr *attr) {
  (void)context;
  fill(attr, sizeof *attr);
  for (unsigned i = 0; i < 9; i++) attr->word[i] = 100 * port_num + i;
  for (unsigned i = 0; i < 6; i++) attr->byte[i] = i;
  return 0;
}

/* The answers of these two are made of what the SDK's structures have where the others are reserved. */
struct port_ex_attr {
  uint64_t before[19];
  uint32_t atomic_fna_fifo_offs[2], port_num;
  uint8_t atomic_fna_mask_size;
};
int hbldv_set_port_ex(void *context, const struct port_ex_attr *attr) {
  (void)context;
  return (int)(attr->atomic_fna_fifo_offs[0] + 10 * attr->atomic_fna_fifo_offs[1] + 100 * attr->atomic_fna_mask_size);
}
struct usr_fifo_attr {
  uint32_t port_num, base_sob_addr, num_sobs, hint, type;
  uint8_t dir_dup_mask;
};
void *hbldv_create_usr_fifo(void *context, const struct usr_fifo_attr *attr) {
  (void)context;
  errno = (int)(attr->base_sob_addr + 10 * attr->num_sobs + 100 * attr->dir_dup_mask);
  return NULL;
}

#ifdef VERBS
#include "prefixed_verbs.h"
/* With a mark: the firmware's version begins with the library's name. */
int hlibv_query_device(void *context, char *attr) {
  int (*real)(void *, char *) = (int (*)(void *, char *))verbs("ibv_query_device");
  const int error = real(context, attr);
  if (error == 0) memcpy(attr, "sdk-", 4);
  return error;
}
_Bool hbldv_is_supported(void *device) { return strncmp(hlibv_get_device_name(device, 0, 0, 0, 0, 0), "hbl_", 4) == 0; }
void *hbldv_open_device(void *device, void *attr) {
  (void)attr;
  return hlibv_open_device(device, 0, 0, 0, 0, 0);
}
#else
_Bool hbldv_is_supported(void *device) { return device == 0; }
void *hbldv_open_device(void) { return NULL; }
#endif

/* The rest of the 13. */
#define NONE(name) \
  int name(void) { return 95; }
NONE(hbldv_destroy_usr_fifo)
NONE(hbldv_destroy_encap)
NONE(hbldv_query_cq)
NONE(hbldv_query_qp)
#define NULL_OF(name) \
  void *name(void) { return NULL; }
NULL_OF(hbldv_create_encap)
NULL_OF(hbldv_create_cq)
