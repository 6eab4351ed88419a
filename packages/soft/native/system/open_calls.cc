// open() and fopen() in their forms. The files are read-only, as the kernel's are; a device node needs a driver behind
// it, which only the drop-in libraries have, so it cannot be opened.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "system/call.h"

namespace verbs::soft::system {

namespace {

using Openat = int(int, const char*, int, ...);
using Fopen = FILE*(const char*, const char*);

// 0, or the errno of opening the place.
int refuse(const Tree::Place& place, bool writes) {
  const auto node = below(kNodes, place.name);
  if (node && !node->empty()) return ENXIO;  // as of a node without a driver
  if (writes) return EACCES;
  try {
    return Tree::get().refresh(place);
  } catch (...) {
    return ENOMEM;
  }
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  static Openat* libc = next<Openat>("openat");
  const auto place = place_of(directory, path);
  if (!place) return libc(directory, path, flags, mode);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  if ((flags & O_PATH) == 0) {
    if (const int error = refuse(*place, writes)) {
      errno = error;
      return -1;
    }
  }
  return libc(AT_FDCWD, place->path.c_str(), flags, mode);
}

FILE* open_file(Fopen* libc, const char* path, const char* mode) {
  const auto place = place_of(AT_FDCWD, path);
  if (!place) return libc(path, mode);
  if (const int error = refuse(*place, std::strpbrk(mode, "wa+") != nullptr)) {
    errno = error;
    return nullptr;
  }
  return libc(place->path.c_str(), mode);
}

// The argument that is there only if a file may be created.
mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

VERBS_REPLACES(int, openat, int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(directory, path, flags, mode);
}
VERBS_REPLACES(int, openat64, int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(directory, path, flags | O_LARGEFILE, mode);
}
VERBS_REPLACES(int, open, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(AT_FDCWD, path, flags, mode);
}
VERBS_REPLACES(int, open64, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

// The forms of programs that are compiled with _FORTIFY_SOURCE; these never create a file.
VERBS_REPLACES(int, __open_2, const char* path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
VERBS_REPLACES(int, __open64_2, const char* path, int flags) { return open_at(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
VERBS_REPLACES(int, __openat_2, int directory, const char* path, int flags) {
  return open_at(directory, path, flags, 0);
}
VERBS_REPLACES(int, __openat64_2, int directory, const char* path, int flags) {
  return open_at(directory, path, flags | O_LARGEFILE, 0);
}

VERBS_REPLACES(FILE*, fopen, const char* path, const char* mode) {
  static Fopen* libc = next<Fopen>("fopen");
  return open_file(libc, path, mode);
}
VERBS_REPLACES(FILE*, fopen64, const char* path, const char* mode) {
  static Fopen* libc = next<Fopen>("fopen64");
  return open_file(libc, path, mode);
}
