// The C library's own functions behind those that this library replaces.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>

namespace verbs::uverbs {

struct Libc {
  int (*open)(const char*, int, ...);
  int (*close)(int);
  int (*ioctl)(int, unsigned long, ...);
  ssize_t (*write)(int, const void*, size_t);
  void* (*mmap)(void*, size_t, int, int, int, off_t);
  int (*stat)(const char*, struct stat*);
};

const Libc& libc();

}  // namespace verbs::uverbs
