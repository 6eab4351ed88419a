// Each function of libhbl by its name, through the library that is on the path.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "hbl-twin/hbl.h"

static void *find(const char *name) {
  static void *library;
  if (library == NULL) library = dlopen("libhbl.so.1", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != NULL);
  void *found = dlvsym(library, name, HBLDV_VERSION);
  REQUIRE(found != NULL);
  return found;
}

#define CALL(result, name, parameters, arguments) \
  result name parameters {                        \
    result(*call) parameters;                     \
    *(void **)&call = find(#name);                \
    return call arguments;                        \
  }
HBLDV_FUNCTIONS(CALL)
