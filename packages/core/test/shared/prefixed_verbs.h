/* The verbs of VERBS, the path of a libibverbs, under the names hlibv_*, as a vendor's own build has them; without one
 * of them if LESS is defined. hlibv_query_device is left to the library that includes this. */
#include <dlfcn.h>
#include <stddef.h>

static void *verbs(const char *name) {
  static void *library;
  if (!library) library = dlopen(VERBS, RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}
typedef void *(*function)(void *, void *, void *, void *, void *, void *);
/* As wide as the registers are: the same for every signature of pointers and integers. */
#define VERB(name)                                                       \
  void *hl##name(void *a, void *b, void *c, void *d, void *e, void *f) { \
    static function real;                                                \
    if (!real) real = (function)verbs(#name);                            \
    return real(a, b, c, d, e, f);                                       \
  }
VERB(ibv_get_device_list)
VERB(ibv_free_device_list)
VERB(ibv_get_device_name)
VERB(ibv_get_device_guid)
VERB(ibv_open_device)
VERB(ibv_close_device)
VERB(ibv_query_port)
VERB(ibv_query_gid)
VERB(ibv_query_pkey)
VERB(_ibv_query_gid_table)
VERB(ibv_alloc_pd)
VERB(ibv_dealloc_pd)
VERB(ibv_reg_mr)
VERB(ibv_dereg_mr)
VERB(ibv_rereg_mr)
VERB(ibv_create_comp_channel)
VERB(ibv_destroy_comp_channel)
VERB(ibv_create_cq)
VERB(ibv_resize_cq)
VERB(ibv_destroy_cq)
VERB(ibv_get_cq_event)
VERB(ibv_ack_cq_events)
VERB(ibv_get_async_event)
VERB(ibv_ack_async_event)
VERB(ibv_create_qp)
VERB(ibv_modify_qp)
VERB(ibv_query_qp)
VERB(ibv_destroy_qp)
VERB(ibv_attach_mcast)
VERB(ibv_detach_mcast)
VERB(ibv_create_srq)
VERB(ibv_modify_srq)
VERB(ibv_query_srq)
VERB(ibv_destroy_srq)
VERB(ibv_create_ah)
VERB(ibv_create_ah_from_wc)
VERB(ibv_init_ah_from_wc)
#ifndef LESS
VERB(ibv_destroy_ah)
#endif
