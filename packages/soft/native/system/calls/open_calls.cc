// Opening a place, for the calls that open files and folders.
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "system/libc.h"
#include "system/place.h"
#include "system/served.h"

namespace verbs::soft::system {

// As openat() of a place that is ours.
int open_place(const Place& place, int flags);

namespace {

using Openat = int(int, const char*, int, ...);
using Fopen = FILE*(const char*, const char*);
VERBS_LIBC(Openat, openat);
VERBS_LIBC(Fopen, fopen);

int fail(int error) {
  errno = error;
  return -1;
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  const Place place(directory, path);
  return place.is_ours() ? open_place(place, flags) : libc_openat(place.directory(), place.path(), flags, mode);
}

FILE* open_file(const char* path, const char* mode) {
  const Place place(AT_FDCWD, path);
  if (!place.is_ours()) return libc_fopen(place.path(), mode);
  const bool writes = std::strpbrk(mode, "wa+") != nullptr;
  const int fd = open_place(place, (writes ? O_RDWR : O_RDONLY) | (std::strchr(mode, 'e') ? O_CLOEXEC : 0));
  FILE* file = fd < 0 ? nullptr : fdopen(fd, "r");
  if (!file && fd >= 0) close(fd);  // which leaves errno: the descriptor is good
  return file;
}

// The argument that is there only if a file may be created.
mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

}  // namespace

int open_place(const Place& place, int flags) {
  if ((flags & O_PATH) != 0) {
    const int fd = libc_openat(place.directory(), place.path(), flags, 0);
    if (fd >= 0) note_folder();  // paths may begin there
    return fd;
  }
  std::string_view node;
  if (is_below(kNodes, place.name(), &node) && !node.empty() && (flags & O_DIRECTORY) == 0) {
    pthread_testcancel();
    if (syscall(SYS_faccessat, place.directory(), place.path(), F_OK) != 0) return -1;
    return fail(ENXIO);  // as of a node without a driver
  }
  if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0) {
    pthread_testcancel();
    return fail(EACCES);
  }
  const int fd = libc_openat(place.directory(), place.path(), flags, 0);
  if (fd < 0) return fd;
  const int served = serve(fd, flags);
  return served < 0 ? fail(EINVAL) : served;
}

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

VERBS_REPLACES(FILE*, fopen, const char* path, const char* mode) { return open_file(path, mode); }
VERBS_REPLACES(FILE*, fopen64, const char* path, const char* mode) { return open_file(path, mode); }
