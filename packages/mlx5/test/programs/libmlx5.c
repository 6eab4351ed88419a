/* A libmlx5 for tests: the functions that flows need, of MODEL, the path of the software NIC's. Its mlx5dv_create_flow
 * walks the actions in steps of STRIDE bytes; with NEWER it has __mlx5dv_create_flow as well, which gets the step from
 * its caller. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
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

/* Its contexts are the software NIC's. */
int verbs_soft_model_load(void *extension) { return ((int (*)(void *))model("verbs_soft_model_load"))(extension); }
