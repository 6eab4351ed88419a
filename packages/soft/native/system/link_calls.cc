// Calls for symbolic links and whole paths, and extended attributes, which ls(1) asks for.
#include <sys/types.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "system/call.h"

namespace verbs::soft::system {

namespace {

using Readlinkat = ssize_t(int, const char*, char*, std::size_t);

ssize_t read_link(int directory, const char* path, char* text, std::size_t size) {
  static Readlinkat* libc = next<Readlinkat>("readlinkat");
  const auto place = place_of(directory, path);
  return place ? libc(AT_FDCWD, place->path.c_str(), text, size) : libc(directory, path, text, size);
}

// As realpath(): into `resolved`, or new memory.
char* real_path(const char* path, char* resolved) {
  using Realpath = char*(const char*, char*);
  static Realpath* libc = next<Realpath>("realpath");
  const auto place = place_of(AT_FDCWD, path);
  char* result = libc(place ? place->path.c_str() : path, resolved);
  if (!result || !Tree::get().in_use()) return result;
  // The name is shorter than the path in the tree.
  if (const auto name = Tree::get().name_of(result)) std::memcpy(result, name->c_str(), name->size() + 1);
  return result;
}

using Getxattr = ssize_t(const char*, const char*, void*, std::size_t);
using Listxattr = ssize_t(const char*, char*, std::size_t);

ssize_t get_attribute(Getxattr* libc, const char* path, const char* name, void* value, std::size_t size) {
  const auto place = place_of(AT_FDCWD, path);
  return libc(place ? place->path.c_str() : path, name, value, size);
}

ssize_t list_attributes(Listxattr* libc, const char* path, char* list, std::size_t size) {
  const auto place = place_of(AT_FDCWD, path);
  return libc(place ? place->path.c_str() : path, list, size);
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
  static Getxattr* libc = next<Getxattr>("getxattr");
  return get_attribute(libc, path, name, value, size);
}
VERBS_REPLACES(ssize_t, lgetxattr, const char* path, const char* name, void* value, std::size_t size) {
  static Getxattr* libc = next<Getxattr>("lgetxattr");
  return get_attribute(libc, path, name, value, size);
}
VERBS_REPLACES(ssize_t, listxattr, const char* path, char* list, std::size_t size) {
  static Listxattr* libc = next<Listxattr>("listxattr");
  return list_attributes(libc, path, list, size);
}
VERBS_REPLACES(ssize_t, llistxattr, const char* path, char* list, std::size_t size) {
  static Listxattr* libc = next<Listxattr>("llistxattr");
  return list_attributes(libc, path, list, size);
}
