// Calls for symbolic links and whole paths, and extended attributes, which ls(1) asks for.
#include <sys/types.h>

#include <climits>
#include <cstdlib>

#include "system/calls/names.h"
#include "system/libc.h"
#include "system/place.h"

namespace verbs::soft::system {

namespace {

using Readlinkat = ssize_t(int, const char*, char*, std::size_t);
using Realpath = char*(const char*, char*);
using Getxattr = ssize_t(const char*, const char*, void*, std::size_t);
using Listxattr = ssize_t(const char*, char*, std::size_t);
VERBS_LIBC(Readlinkat, readlinkat);
VERBS_LIBC(Realpath, realpath);
VERBS_LIBC(Getxattr, getxattr);
VERBS_LIBC(Getxattr, lgetxattr);
VERBS_LIBC(Listxattr, listxattr);
VERBS_LIBC(Listxattr, llistxattr);

// The links of /proc to descriptors and to the working directory have the names that the program knows.
ssize_t read_link(int directory, const char* path, char* text, std::size_t size) {
  const Place place(directory, path);
  const ssize_t length = libc_readlinkat(place.directory(), place.path(), text, size);
  return length <= 0 || place.is_ours() ? length : rename_in_tree(text, length);
}

// As realpath(): into `resolved`, or new memory.
char* real_path(const char* path, char* resolved) {
  const Place place(AT_FDCWD, path);
  return rename_in_tree(libc_realpath(place.path(), resolved));
}

ssize_t get_attribute(Libc<Getxattr>& libc, const char* path, const char* name, void* value, std::size_t size) {
  const Place place(AT_FDCWD, path);
  return libc(place.path(), name, value, size);
}

ssize_t list_attributes(Libc<Listxattr>& libc, const char* path, char* list, std::size_t size) {
  const Place place(AT_FDCWD, path);
  return libc(place.path(), list, size);
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

VERBS_REPLACES(ssize_t, readlink, const char* path, char* text, std::size_t size) {
  return read_link(AT_FDCWD, path, text, size);
}
VERBS_REPLACES(ssize_t, readlinkat, int directory, const char* path, char* text, std::size_t size) {
  return read_link(directory, path, text, size);
}
// The forms of programs that are compiled with _FORTIFY_SOURCE. `room` is what the compiler knows of the buffer.
VERBS_REPLACES(ssize_t, __readlink_chk, const char* path, char* text, std::size_t size, std::size_t room) {
  if (size > room) std::abort();
  return read_link(AT_FDCWD, path, text, size);
}
VERBS_REPLACES(ssize_t, __readlinkat_chk, int directory, const char* path, char* text, std::size_t size,
               std::size_t room) {
  if (size > room) std::abort();
  return read_link(directory, path, text, size);
}

VERBS_REPLACES(char*, realpath, const char* path, char* resolved) { return real_path(path, resolved); }
VERBS_REPLACES(char*, __realpath_chk, const char* path, char* resolved, std::size_t room) {
  if (resolved && room < PATH_MAX) std::abort();
  return real_path(path, resolved);
}
VERBS_REPLACES(char*, canonicalize_file_name, const char* path) { return real_path(path, nullptr); }

VERBS_REPLACES(ssize_t, getxattr, const char* path, const char* name, void* value, std::size_t size) {
  return get_attribute(libc_getxattr, path, name, value, size);
}
VERBS_REPLACES(ssize_t, lgetxattr, const char* path, const char* name, void* value, std::size_t size) {
  return get_attribute(libc_lgetxattr, path, name, value, size);
}
VERBS_REPLACES(ssize_t, listxattr, const char* path, char* list, std::size_t size) {
  return list_attributes(libc_listxattr, path, list, size);
}
VERBS_REPLACES(ssize_t, llistxattr, const char* path, char* list, std::size_t size) {
  return list_attributes(libc_llistxattr, path, list, size);
}
