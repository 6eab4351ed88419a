/* A program that loads libibverbs and libdoca_common as Python loads the libraries of its modules: with RTLD_LOCAL, so
 * that neither has global symbols. Prints the PCI address of each device.
 *
 *   rtld_local LIBIBVERBS LIBDOCA_COMMON
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "doca_dev.h"

static void *load(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return library;
}

int main(int argc, char **argv) {
  struct doca_devinfo **list;
  uint32_t count, i;
  if (argc != 3) {
    fprintf(stderr, "usage: rtld_local LIBIBVERBS LIBDOCA_COMMON\n");
    return 2;
  }
  load(argv[1]);
  void *doca = load(argv[2]);
  doca_error_t (*create_list)(struct doca_devinfo ***, uint32_t *) = dlsym(doca, "doca_devinfo_create_list");
  doca_error_t (*get_pci_addr)(const struct doca_devinfo *, char *) = dlsym(doca, "doca_devinfo_get_pci_addr_str");
  if (!create_list || !get_pci_addr || create_list(&list, &count) != DOCA_SUCCESS) return 1;
  for (i = 0; i < count; ++i) {
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
    if (get_pci_addr(list[i], address) != DOCA_SUCCESS) return 1;
    puts(address);
  }
  return 0;
}
