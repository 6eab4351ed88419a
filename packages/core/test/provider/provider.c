/* The addon of a provider, for the tests: takes objects of @verbs/core by verbs_core.h and adds objects of its own to
 * them. */
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <verbs_core.h>

static const napi_type_tag kApiTag = VERBS_CORE_API_TAG;

/* One environment is enough for the tests. */
static const verbs_core_api* api;
static int destroyed;

static napi_value Number(napi_env env, double value) {
  napi_value result = NULL;
  napi_create_double(env, value, &result);
  return result;
}

/* setUp(nativeApi): the version of the table */
static napi_value SetUp(napi_env env, napi_callback_info info) {
  napi_value value;
  size_t argc = 1;
  bool ours = false;
  void* data = NULL;
  napi_get_cb_info(env, info, &argc, &value, NULL, NULL);
  if (napi_check_object_type_tag(env, value, &kApiTag, &ours) != napi_ok || !ours ||
      napi_get_value_external(env, value, &data) != napi_ok) {
    napi_throw_type_error(env, NULL, "not the table of @verbs/core");
    return NULL;
  }
  api = data;
  return Number(env, api->version);
}

static verbs_core_object* TakeArgument(napi_env env, napi_callback_info info, verbs_core_kind kind) {
  napi_value value;
  size_t argc = 1;
  napi_get_cb_info(env, info, &argc, &value, NULL, NULL);
  return api->take(env, value, kind);
}

/* portCount(context): ibv_query_device of the context's own library, called here */
static napi_value PortCount(napi_env env, napi_callback_info info) {
  verbs_core_object* context = TakeArgument(env, info, VERBS_CORE_CONTEXT);
  if (context == NULL) return NULL;
  int (*query)(struct ibv_context*, struct ibv_device_attr*) =
      (int (*)(struct ibv_context*, struct ibv_device_attr*))api->symbol(context, "ibv_query_device", "IBVERBS_1.1");
  struct ibv_device_attr attr;
  int error = query(api->pointer(context), &attr);
  api->release(context);
  return Number(env, error != 0 ? -error : attr.phys_port_cnt);
}

/* isSoft(context) */
static napi_value IsSoft(napi_env env, napi_callback_info info) {
  verbs_core_object* context = TakeArgument(env, info, VERBS_CORE_CONTEXT);
  if (context == NULL) return NULL;
  napi_value result = NULL;
  napi_get_boolean(env, api->library(context) == VERBS_CORE_SOFT, &result);
  api->release(context);
  return result;
}

/* qpNum(qp): read from the structure itself */
static napi_value QpNum(napi_env env, napi_callback_info info) {
  verbs_core_object* qp = TakeArgument(env, info, VERBS_CORE_QP);
  if (qp == NULL) return NULL;
  verbs_core_object* again = api->retain(qp);
  api->release(qp);
  double number = ((struct ibv_qp*)api->pointer(again))->qp_num;
  api->release(again);
  return Number(env, number);
}

/* An object of this addon's own, below a protection domain. */
typedef struct Thing {
  verbs_core_object* pd;
  verbs_core_child* child;
} Thing;

static int DestroyThing(void* object) {
  Thing* thing = object;
  /* The parent is still there: this is the point of being a child. */
  if (api->pointer(thing->pd) == NULL) return 5;
  destroyed++;
  return 0;
}

static void FinalizeThing(napi_env env, void* object, void* hint) {
  (void)env;
  (void)hint;
  Thing* thing = object;
  api->detach(thing->child);
  api->release(thing->pd);
  free(thing);
}

/* createThing(pd) */
static napi_value CreateThing(napi_env env, napi_callback_info info) {
  verbs_core_object* pd = TakeArgument(env, info, VERBS_CORE_PD);
  if (pd == NULL) return NULL;
  Thing* thing = calloc(1, sizeof *thing);
  thing->pd = api->retain(pd);
  thing->child = api->attach(&pd, 1, DestroyThing, thing);
  api->release(pd);
  napi_value result = NULL;
  napi_create_external(env, thing, FinalizeThing, NULL, &result);
  return result;
}

/* closeThing(thing): 0 or an errno */
static napi_value CloseThing(napi_env env, napi_callback_info info) {
  napi_value value;
  size_t argc = 1;
  void* thing = NULL;
  napi_get_cb_info(env, info, &argc, &value, NULL, NULL);
  napi_get_value_external(env, value, &thing);
  return Number(env, api->close(((Thing*)thing)->child));
}

/* destroyedThings(): how many so far */
static napi_value DestroyedThings(napi_env env, napi_callback_info info) {
  (void)info;
  return Number(env, destroyed);
}

static int DestroyNothing(void* object) {
  (void)object;
  destroyed++;
  return 0;
}

/* createLoose(parent?): the handle of an object without a context, and whether core says so */
static napi_value CreateLoose(napi_env env, napi_callback_info info) {
  napi_value value = NULL;
  size_t argc = 1;
  napi_get_cb_info(env, info, &argc, &value, NULL, NULL);
  verbs_core_object* parent = argc == 0 ? NULL : api->take(env, value, VERBS_CORE_FOREIGN);
  if (argc != 0 && parent == NULL) return NULL;
  verbs_core_child* child = api->attach(&parent, parent == NULL ? 0 : 1, DestroyNothing, &destroyed);
  napi_value handle = api->child_handle(env, child);
  api->detach(child);
  if (parent != NULL) api->release(parent);
  verbs_core_object* made = api->take(env, handle, VERBS_CORE_FOREIGN);
  if (api->library(made) != VERBS_CORE_SYSTEM || api->symbol(made, "ibv_query_device", NULL) != NULL) {
    napi_throw_error(env, NULL, "an object without context has a library");
  }
  api->release(made);
  return handle;
}

/* move(object, parent): 0 or an errno */
static napi_value Move(napi_env env, napi_callback_info info) {
  napi_value values[2];
  size_t argc = 2;
  napi_get_cb_info(env, info, &argc, values, NULL, NULL);
  verbs_core_object* object = api->take(env, values[0], VERBS_CORE_FOREIGN);
  verbs_core_object* parent = api->take(env, values[1], VERBS_CORE_FOREIGN);
  int error = api->set_parents(object, &parent, 1);
  api->release(object);
  api->release(parent);
  return Number(env, error);
}

/* borrow(libibverbs, context): a second handle of its ibv_context */
static napi_value Borrow(napi_env env, napi_callback_info info) {
  napi_value values[2];
  size_t argc = 2;
  napi_get_cb_info(env, info, &argc, values, NULL, NULL);
  verbs_core_object* context = api->take(env, values[1], VERBS_CORE_CONTEXT);
  if (context == NULL) return NULL;
  napi_value result = api->borrow_context(env, values[0], api->pointer(context));
  api->release(context);
  return result;
}

static void* MakeQp(void* data, void* context, void* attr) {
  (void)context;
  struct ibv_qp* (*create)(struct ibv_pd*, struct ibv_qp_init_attr*) =
      (struct ibv_qp * (*)(struct ibv_pd*, struct ibv_qp_init_attr*)) api->symbol(data, "ibv_create_qp", "IBVERBS_1.1");
  /* The shorter structure is the longer one's beginning. */
  return create(((struct ibv_qp_init_attr_ex*)attr)->pd, attr);
}

static int DestroyQp(void* data, void* qp) {
  verbs_core_object* context = data;
  int (*destroy)(struct ibv_qp*) = (int (*)(struct ibv_qp*))api->symbol(context, "ibv_destroy_qp", "IBVERBS_1.1");
  destroyed++;
  return destroy(qp);
}

/* createQp(attr, context, parent): by functions of this addon. The context is never released. */
static napi_value CreateQp(napi_env env, napi_callback_info info) {
  napi_value values[3];
  size_t argc = 3;
  napi_get_cb_info(env, info, &argc, values, NULL, NULL);
  verbs_core_object* context = api->take(env, values[1], VERBS_CORE_CONTEXT);
  verbs_core_object* parent = api->take(env, values[2], VERBS_CORE_FOREIGN);
  verbs_core_qp_maker maker = {.make = MakeQp, .destroy = DestroyQp, .data = api->retain(context), .parent = parent};
  napi_value result = api->create_qp_by(env, values, &maker);
  api->release(context);
  api->release(parent);
  return result;
}

static void Export(napi_env env, napi_value exports, const char* name, napi_callback call) {
  napi_value function = NULL;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, call, NULL, &function);
  napi_set_named_property(env, exports, name, function);
}

NAPI_MODULE_INIT() {
  Export(env, exports, "setUp", SetUp);
  Export(env, exports, "portCount", PortCount);
  Export(env, exports, "isSoft", IsSoft);
  Export(env, exports, "qpNum", QpNum);
  Export(env, exports, "createThing", CreateThing);
  Export(env, exports, "closeThing", CloseThing);
  Export(env, exports, "destroyedThings", DestroyedThings);
  Export(env, exports, "createLoose", CreateLoose);
  Export(env, exports, "move", Move);
  Export(env, exports, "borrow", Borrow);
  Export(env, exports, "createQp", CreateQp);
  return exports;
}
