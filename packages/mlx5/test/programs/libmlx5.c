/* A libmlx5 for tests: the functions that flows need, of MODEL, the path of the software NIC's. Its mlx5dv_create_flow
 * walks the actions in steps of STRIDE bytes; with NEWER it has __mlx5dv_create_flow as well, which gets the step from
 * its caller. And the shares of the bandwidth, which the model does not have, with libmlx5's checks of their
 * attributes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the model takes: the shorter structure, whose size no release has changed. */
struct action {
  uint32_t type;
  void *object;
};
enum { MOST = 16 };

static void *model(const char *name) {
  static void *library;
  if (!library) library = dlopen(MODEL, RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}

static void *walk(void *matcher, void *value, size_t count, const char *actions, size_t step) {
  struct action plain[MOST];
  if (count > MOST) {
    errno = EINVAL;
    return NULL;
  }
  for (size_t i = 0; i < count; i++) memcpy(&plain[i], actions + i * step, sizeof plain[i]);
  void *(*create)(void *, void *, size_t, struct action *) =
      (void *(*)(void *, void *, size_t, struct action *))model("mlx5dv_create_flow");
  return create(matcher, value, count, plain);
}

void *mlx5dv_create_flow(void *matcher, void *value, size_t count, const char *actions) {
  return walk(matcher, value, count, actions, STRIDE);
}
#ifdef NEWER
void *__mlx5dv_create_flow(void *matcher, void *value, size_t count, const char *actions, size_t step) {
  return walk(matcher, value, count, actions, step);
}
#endif

_Bool mlx5dv_is_supported(void *device) { return ((_Bool(*)(void *))model("mlx5dv_is_supported"))(device); }
void *mlx5dv_create_flow_matcher(void *context, void *attr) {
  return ((void *(*)(void *, void *))model("mlx5dv_create_flow_matcher"))(context, attr);
}
int mlx5dv_destroy_flow_matcher(void *matcher) {
  return ((int (*)(void *))model("mlx5dv_destroy_flow_matcher"))(matcher);
}

struct sched_attr {
  void *parent;
  uint32_t flags, bw_share, max_avg_bw;
  uint64_t comp_mask;
};
static int valid(const struct sched_attr *attr, int is_node) {
  if (attr->comp_mask != 0 || (attr->flags & ~3u) != 0) return 0;
  return attr->parent || (is_node && attr->flags == 0);
}
static void *sched_create(const struct sched_attr *attr, int is_node) {
  if (valid(attr, is_node)) return malloc(1);
  errno = EINVAL;
  return NULL;
}
static int sched_destroy(void *element) {
  free(element);
  return 0;
}
void *mlx5dv_sched_node_create(void *context, const struct sched_attr *attr) {
  (void)context;
  return sched_create(attr, 1);
}
void *mlx5dv_sched_leaf_create(void *context, const struct sched_attr *attr) {
  (void)context;
  return sched_create(attr, 0);
}
int mlx5dv_sched_node_modify(void *node, const struct sched_attr *attr) {
  (void)node;
  return valid(attr, 1) ? 0 : EINVAL;
}
int mlx5dv_sched_leaf_modify(void *leaf, const struct sched_attr *attr) {
  (void)leaf;
  return valid(attr, 0) ? 0 : EINVAL;
}
int mlx5dv_sched_node_destroy(void *node) { return sched_destroy(node); }
int mlx5dv_sched_leaf_destroy(void *leaf) { return sched_destroy(leaf); }

/* Its contexts are the software NIC's. */
int verbs_soft_model_load(void *extension) { return ((int (*)(void *))model("verbs_soft_model_load"))(extension); }
