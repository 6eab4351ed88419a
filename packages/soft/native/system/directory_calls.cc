// Calls for folders: opening, reading, and being in one.
#include <dirent.h>
#include <unistd.h>

#include <cstring>

#include "system/call.h"

namespace verbs::soft::system {

namespace {

template <typename Entry>
using Filter = int(const Entry*);
template <typename Entry>
using Order = int(const Entry**, const Entry**);
template <typename Entry>
using Scandir = int(const char*, Entry***, Filter<Entry>*, Order<Entry>*);

std::optional<std::string> name_of(int descriptor) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  if (length <= 0) return std::nullopt;
  return Tree::get().name_of({path, static_cast<std::size_t>(length)});
}

// The entries of /dev/infiniband are character devices, also for programs that do not ask stat().
template <typename Entry>
Entry* dressed(DIR* folder, Entry* entry) {
  if (!entry || entry->d_type != DT_REG || !Tree::get().in_use()) return entry;
  if (std::strncmp(entry->d_name, "uverbs", 6) != 0 && std::strcmp(entry->d_name, "rdma_cm") != 0) return entry;
  const int before = errno;
  if (name_of(dirfd(folder)) == kNodes) entry->d_type = DT_CHR;
  errno = before;
  return entry;
}

template <typename Entry>
int scan(Scandir<Entry>* libc, const char* path, Entry*** list, Filter<Entry>* filter, Order<Entry>* order) {
  const auto place = place_of(AT_FDCWD, path);
  return libc(place ? place->path.c_str() : path, list, filter, order);
}

// Replaces a path in a tree by the name that the program knows. The name is the shorter one.
char* renamed(char* path) {
  if (!path || !Tree::get().in_use()) return path;
  if (const auto name = Tree::get().name_of(path)) std::memcpy(path, name->c_str(), name->size() + 1);
  return path;
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

VERBS_REPLACES(DIR*, opendir, const char* path) {
  using Opendir = DIR*(const char*);
  static Opendir* libc = next<Opendir>("opendir");
  const auto place = place_of(AT_FDCWD, path);
  return libc(place ? place->path.c_str() : path);
}

VERBS_REPLACES(dirent*, readdir, DIR* folder) {
  using Readdir = dirent*(DIR*);
  static Readdir* libc = next<Readdir>("readdir");
  return dressed(folder, libc(folder));
}
VERBS_REPLACES(dirent64*, readdir64, DIR* folder) {
  using Readdir = dirent64*(DIR*);
  static Readdir* libc = next<Readdir>("readdir64");
  return dressed(folder, libc(folder));
}

VERBS_REPLACES(int, scandir, const char* path, dirent*** list, Filter<dirent>* filter, Order<dirent>* order) {
  static Scandir<dirent>* libc = next<Scandir<dirent>>("scandir");
  return scan(libc, path, list, filter, order);
}
VERBS_REPLACES(int, scandir64, const char* path, dirent64*** list, Filter<dirent64>* filter, Order<dirent64>* order) {
  static Scandir<dirent64>* libc = next<Scandir<dirent64>>("scandir64");
  return scan(libc, path, list, filter, order);
}

VERBS_REPLACES(int, chdir, const char* path) {
  using Chdir = int(const char*);
  static Chdir* libc = next<Chdir>("chdir");
  const auto place = place_of(AT_FDCWD, path);
  return libc(place ? place->path.c_str() : path);
}

VERBS_REPLACES(char*, getcwd, char* buffer, std::size_t size) {
  using Getcwd = char*(char*, std::size_t);
  static Getcwd* libc = next<Getcwd>("getcwd");
  return renamed(libc(buffer, size));
}
VERBS_REPLACES(char*, __getcwd_chk, char* buffer, std::size_t size, std::size_t room) {
  using Getcwd = char*(char*, std::size_t, std::size_t);
  static Getcwd* libc = next<Getcwd>("__getcwd_chk");
  return renamed(libc(buffer, size, room));
}
