/* A program that loads both libraries as Python loads those of its modules: with RTLD_LOCAL, so that libibverbs has no
 * global symbols. Prints the name of each device that libhbl supports. */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void *load(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return library;
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return found;
}

int main(void) {
  void *libibverbs = load("libibverbs.so.1");
  void *libhbl = load("libhbl.so.1");
  struct ibv_device **(*get_device_list)(int *) = symbol(libibverbs, "ibv_get_device_list");
  void (*free_device_list)(struct ibv_device **) = symbol(libibverbs, "ibv_free_device_list");
  const char *(*get_device_name)(struct ibv_device *) = symbol(libibverbs, "ibv_get_device_name");
  bool (*is_supported)(struct ibv_device *) = symbol(libhbl, "hbldv_is_supported");
  struct ibv_device **list = get_device_list(NULL);
  if (!list) return 1;
  for (int i = 0; list[i]; ++i) {
    if (is_supported(list[i])) puts(get_device_name(list[i]));
  }
  free_device_list(list);
  return 0;
}
