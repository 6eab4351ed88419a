#include "system/calls/read_calls.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "system/libc.h"
#include "system/served.h"
#include "system/tree.h"

// read() in its forms: a file that the kernel makes anew for each reading from its beginning is made anew here.

namespace verbs::soft::system {

namespace {

using Read = ssize_t(int, void*, std::size_t);
using Pread = ssize_t(int, void*, std::size_t, off_t);
using Readv = ssize_t(int, const iovec*, int);
using Preadv = ssize_t(int, const iovec*, int, off_t);
using Preadv2 = ssize_t(int, const iovec*, int, off_t, int);
VERBS_LIBC(Read, read);
VERBS_LIBC(Pread, pread);
VERBS_LIBC(Readv, readv);
VERBS_LIBC(Preadv, preadv);
VERBS_LIBC(Preadv2, preadv2);

// Calls libc's function with `fd` and the rest, whose content is up to date then.
template <typename Call, typename... Arguments>
ssize_t read_at(off_t at, Call& libc, int fd, Arguments... arguments) {
  if (holds_served()) {
    if (const int error = refresh(fd, at)) {
      errno = error;
      return -1;
    }
  }
  return libc(fd, arguments...);
}

void check_room(std::size_t size, std::size_t room) {
  if (size > room) std::abort();
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

static_assert(sizeof(off_t) == 8);
constexpr off_t kOwnPlace = -1;

VERBS_REPLACES(ssize_t, read, int fd, void* to, std::size_t size) {
  return read_at(kOwnPlace, libc_read, fd, to, size);
}
VERBS_REPLACES(ssize_t, pread, int fd, void* to, std::size_t size, off_t at) {
  return read_at(at, libc_pread, fd, to, size, at);
}
VERBS_REPLACES(ssize_t, pread64, int fd, void* to, std::size_t size, off_t at) {
  return read_at(at, libc_pread, fd, to, size, at);
}
VERBS_REPLACES(ssize_t, readv, int fd, const iovec* parts, int count) {
  return read_at(kOwnPlace, libc_readv, fd, parts, count);
}
VERBS_REPLACES(ssize_t, preadv, int fd, const iovec* parts, int count, off_t at) {
  return read_at(at, libc_preadv, fd, parts, count, at);
}
VERBS_REPLACES(ssize_t, preadv64, int fd, const iovec* parts, int count, off_t at) {
  return read_at(at, libc_preadv, fd, parts, count, at);
}
VERBS_REPLACES(ssize_t, preadv2, int fd, const iovec* parts, int count, off_t at, int flags) {
  return read_at(at, libc_preadv2, fd, parts, count, at, flags);
}
VERBS_REPLACES(ssize_t, preadv64v2, int fd, const iovec* parts, int count, off_t at, int flags) {
  return read_at(at, libc_preadv2, fd, parts, count, at, flags);
}

// The forms of programs that are compiled with _FORTIFY_SOURCE. `room` is what the compiler knows of the buffer.
VERBS_REPLACES(ssize_t, __read_chk, int fd, void* to, std::size_t size, std::size_t room) {
  check_room(size, room);
  return read_at(kOwnPlace, libc_read, fd, to, size);
}
VERBS_REPLACES(ssize_t, __pread_chk, int fd, void* to, std::size_t size, off_t at, std::size_t room) {
  check_room(size, room);
  return read_at(at, libc_pread, fd, to, size, at);
}
VERBS_REPLACES(ssize_t, __pread64_chk, int fd, void* to, std::size_t size, off_t at, std::size_t room) {
  check_room(size, room);
  return read_at(at, libc_pread, fd, to, size, at);
}

namespace verbs::soft::system {

ssize_t rename_in_tree(char* text, ssize_t length) {
  const std::string_view name = name_in_tree({text, static_cast<std::size_t>(length)});
  if (name.empty()) return length;
  std::memmove(text, name.data(), name.size());
  return static_cast<ssize_t>(name.size());
}

char* rename_in_tree(char* path) {
  if (path) path[rename_in_tree(path, static_cast<ssize_t>(std::strlen(path)))] = '\0';
  return path;
}

}  // namespace verbs::soft::system
