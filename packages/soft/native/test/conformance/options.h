// What the command line says.
#pragma once

#include <stdbool.h>

struct options {
  const char *device;  // NULL: the first
  int gid;             // -1: chosen
  const char *only;    // cases whose "group: name" contains it
  bool json;
  bool exact;  // as the software NIC does, where devices differ
};

extern struct options options;
