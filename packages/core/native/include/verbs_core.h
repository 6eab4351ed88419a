/*
 * How the addon of a provider (a vendor package) takes the objects of @verbs/core.
 *
 * The JavaScript side passes two values: the `nativeApi` of @verbs/core to the addon's set-up function, and later the
 * handle of an object (`handleOf(context)`) as an ordinary argument. Both are type-tagged: any other value is a
 * TypeError, never a crash. The addon links nothing of @verbs/core: it calls through the table below.
 *
 * Everything here runs on the JavaScript thread of the environment that made the object.
 */
#ifndef VERBS_CORE_H
#define VERBS_CORE_H

#include <node_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VERBS_CORE_API_VERSION 5u

/* The tag of the External that holds a `const verbs_core_api*`. */
#define VERBS_CORE_API_TAG {0x6f1d7c0b52a94e83ull, 0x9b3e5a70c4d82f16ull}

typedef enum verbs_core_kind {
  VERBS_CORE_CONTEXT = 1,        /* ibv_context */
  VERBS_CORE_PD = 2,             /* ibv_pd */
  VERBS_CORE_MR = 3,             /* ibv_mr */
  VERBS_CORE_CHANNEL = 4,        /* ibv_comp_channel */
  VERBS_CORE_CQ = 5,             /* ibv_cq */
  VERBS_CORE_QP = 6,             /* ibv_qp */
  VERBS_CORE_AH = 7,             /* ibv_ah */
  VERBS_CORE_FOREIGN = 8,        /* an object of a provider, see attach */
  VERBS_CORE_SRQ = 9,            /* ibv_srq */
  VERBS_CORE_TD = 10,            /* ibv_td */
  VERBS_CORE_DM = 11,            /* ibv_dm */
  VERBS_CORE_MW = 12,            /* ibv_mw */
  VERBS_CORE_XRCD = 13,          /* ibv_xrcd */
  VERBS_CORE_WQ = 14,            /* ibv_wq */
  VERBS_CORE_RWQ_IND_TABLE = 15, /* ibv_rwq_ind_table */
  VERBS_CORE_FLOW = 16,          /* ibv_flow */
  VERBS_CORE_COUNTERS = 17,      /* ibv_counters */
  VERBS_CORE_COMP_CNTR = 18,     /* ibv_comp_cntr */
  VERBS_CORE_BUF = 19,           /* ibv_buf */
  VERBS_CORE_DMAH = 20           /* ibv_dmah */
} verbs_core_kind;

typedef enum verbs_core_library { VERBS_CORE_SYSTEM = 0, VERBS_CORE_SOFT = 1 } verbs_core_library;

/* A counted reference to an object. It keeps the object and its parents in memory; the object may be closed meanwhile.
 */
typedef struct verbs_core_object verbs_core_object;

/* A provider's own object in the tree of lifetimes. */
typedef struct verbs_core_child verbs_core_child;

/* A vendor's function that replaces the library's. Its arguments are the ibv_context and the attributes, its result the
 * new object, or NULL with errno. */
typedef void* (*verbs_core_make)(void* data, void* context, void* attr);

/* A vendor's functions that make and destroy a queue pair. */
typedef struct verbs_core_qp_maker {
  verbs_core_make make;
  /* In place of ibv_destroy_qp: 0 or an errno. */
  int (*destroy)(void* data, void* qp);
  void* data;
  /* A further parent of the queue pair, of any context or none, so that `data` lives as long; NULL if none. */
  verbs_core_object* parent;
} verbs_core_qp_maker;

typedef struct verbs_core_api {
  uint32_t version; /* VERBS_CORE_API_VERSION: a later one only appends */
  uint32_t size;    /* of this structure in the addon that provides it */

  /* The open object of that kind behind a handle, for the time of a call; NULL with a JavaScript exception pending if
   * the value is no such handle or the object is closed. Give it back with release(). Until then closing the object
   * fails with EBUSY: a getter in an argument that is read later cannot close it. */
  verbs_core_object* (*take)(napi_env env, napi_value handle, verbs_core_kind kind);
  /* A reference for longer than the call, which may outlast the closing. Give it back with release(), too. */
  verbs_core_object* (*retain)(verbs_core_object* object);
  void (*release)(verbs_core_object* object);

  /* The ibv_* structure of the object's kind; NULL once it is closed. Do not keep it across calls of JavaScript. */
  void* (*pointer)(const verbs_core_object* object);

  /* Which libibverbs the object belongs to. A vendor call must go to the vendor library of the same kind. */
  verbs_core_library (*library)(const verbs_core_object* object);
  /* A symbol of that libibverbs, as dlvsym gives it; `version` may be NULL. NULL if there is none. */
  void* (*symbol)(const verbs_core_object* object, const char* name, const char* version);

  /* Makes an object of the provider a child of its parents: it keeps them alive, and when one of them is closed,
   * `destroy(object)` is called first. It returns 0, or an errno, which stops the closing. NULL if out of memory.
   * Since version 5 there may be no parent: then library() and symbol() of the object, and of its children that have no
   * other parent, are VERBS_CORE_SYSTEM and NULL. */
  verbs_core_child* (*attach)(verbs_core_object* const* parents, size_t count, int (*destroy)(void*), void* object);
  /* Closes the child now: calls destroy(object) if no parent did so before, and returns its result. */
  int (*close)(verbs_core_child* child);
  /* Forgets the child, closing it if it is open. To be called once, for instance by the finalizer of its handle. */
  void (*detach)(verbs_core_child* child);

  /* -- since version 2 */

  /* A symbol of a loaded libibverbs, by the handle of libibverbs() in @verbs/core/provider; `version` may be NULL. NULL
   * if there is none, or with a JavaScript exception pending if the value is no such handle. */
  void* (*library_symbol)(napi_env env, napi_value library, const char* name, const char* version);
  /* An ibv_context that a vendor's function has opened with that libibverbs: owned from here on, and closed by
   * ibv_close_device. The argument of adoptContext(); NULL with an exception pending, and then not owned. */
  napi_value (*adopt_context)(napi_env env, napi_value library, void* context);
  /* An ibv_cq of `context` that a vendor's function has made; `channel` may be NULL. Its cq_context is set. As above,
   * for adoptCq(). */
  napi_value (*adopt_cq)(napi_env env, verbs_core_object* context, verbs_core_object* channel, void* cq);
  /* A handle of a child for JavaScript: the constructor of a subclass of Resource takes it, and so does take() as
   * VERBS_CORE_FOREIGN. The child may be detached as soon as it has one. NULL with an exception pending. */
  napi_value (*child_handle)(napi_env env, verbs_core_child* child);
  /* Fills a struct ibv_qp_attr from the result of nativeQpAttr(). 0, or -1 with an exception pending. */
  int (*read_qp_attr)(napi_env env, napi_value attr, void* qp_attr);

  /* -- since version 3 */

  /* The addon's createQp, createCq, createWq and allocDm, with `make` instead of the library's function. Its attributes
   * are a struct ibv_qp_init_attr_ex, ibv_cq_init_attr_ex (the result is an ibv_cq_ex), ibv_wq_init_attr or
   * ibv_alloc_dm_attr. `arguments` are those of the function, checked by nativeQpInitAttr() and so on; the
   * result is its result, a negated errno too. NULL with an exception pending. */
  napi_value (*create_qp)(napi_env env, const napi_value* arguments, verbs_core_make make, void* data);
  napi_value (*create_cq)(napi_env env, const napi_value* arguments, verbs_core_make make, void* data);
  napi_value (*create_wq)(napi_env env, const napi_value* arguments, verbs_core_make make, void* data);
  napi_value (*alloc_dm)(napi_env env, const napi_value* arguments, verbs_core_make make, void* data);
  /* An ibv_mr of `pd` that a vendor's function has registered, of memory outside the process, like the result of
   * regDmabufMr. Owned from here on, and closed by ibv_dereg_mr; NULL with an exception pending, and then not owned. */
  napi_value (*adopt_mr)(napi_env env, verbs_core_object* pd, void* mr, uint64_t start, uint64_t length);

  /* -- since version 4 */

  /* A vendor's function has modified the queue pair, by a struct ibv_qp_attr and its mask: the addon follows the
   * transition as it does after ibv_modify_qp. */
  void (*qp_modified)(verbs_core_object* qp, const void* qp_attr, int mask);
  /* Fills a struct ibv_qp_cap with what the queue pair was created with: at least what the program asked for. */
  void (*qp_cap)(const verbs_core_object* qp, void* cap);
  /* A word that the provider keeps with the queue pair. It is 0 after the creation and after every transition to RESET
   * or INIT, by whichever function. */
  uint64_t (*qp_word)(const verbs_core_object* qp);
  void (*set_qp_word)(verbs_core_object* qp, uint64_t word);
  /* Keeps something of the provider's as long as the queue pair uses it: `drop(data)` is called after the queue pair
   * was destroyed, or was reset. The errno of a drop after the destruction is the result of the close. 0 or ENOMEM. */
  int (*qp_keep)(verbs_core_object* qp, int (*drop)(void*), void* data);

  /* -- since version 5 */

  /* As adopt_context, for a context that the vendor's library keeps open: closing the object closes what was created
   * from it, and leaves the ibv_context as it is. */
  napi_value (*borrow_context)(napi_env env, napi_value library, void* context);
  /* As create_qp, with the functions of `maker`. */
  napi_value (*create_qp_by)(napi_env env, const napi_value* arguments, const verbs_core_qp_maker* maker);
  /* The fields of a struct ibv_qp_attr as an object, for publicQpAttr(). NULL with an exception pending. */
  napi_value (*write_qp_attr)(napi_env env, const void* qp_attr);
  /* Gives an open VERBS_CORE_FOREIGN object other parents, as its newest child. 0, ENOMEM, or EINVAL for another kind.
   */
  int (*set_parents)(verbs_core_object* object, verbs_core_object* const* parents, size_t count);
} verbs_core_api;

#ifdef __cplusplus
}
#endif

#endif
