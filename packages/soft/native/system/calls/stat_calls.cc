// stat(), statx() and access() in their forms. A node of /dev/infiniband is a character device, which only root could
// make: the file in its place is reported as one.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "system/calls/read_calls.h"
#include "system/libc.h"
#include "system/place.h"

namespace verbs::soft::system {

namespace {

constexpr unsigned kVerbsMajor = 231, kFirstVerbsMinor = 192;  // IB_UVERBS_MAJOR, IB_UVERBS_BASE_MINOR
constexpr unsigned kMiscMajor = 10, kManagerMinor = 58;        // of rdma_cm, chosen by the kernel when it is loaded
constexpr mode_t kNodeMode = S_IFCHR | 0666;
constexpr off_t kFileSize = 4096;  // of every file of sysfs

struct Node {
  unsigned major, minor;
};

std::optional<Node> node_at(const Place& place) {
  std::string_view file;
  if (!is_below(kNodes, place.name(), &file) || file.empty()) return std::nullopt;
  constexpr std::string_view kVerbs = "/uverbs";
  if (!file.starts_with(kVerbs)) return Node{kMiscMajor, kManagerMinor};
  file.remove_prefix(kVerbs.size());
  unsigned number = 0;
  for (const char digit : file) number = 10 * number + static_cast<unsigned>(digit - '0');
  return Node{kVerbsMajor, kFirstVerbsMinor + number};
}

// As the kernel would have the file.
template <typename Stat>
void dress(const Place& place, Stat* stat) {
  stat->st_uid = 0;
  stat->st_gid = 0;
  if (!S_ISREG(stat->st_mode)) return;
  stat->st_size = kFileSize;
  const auto node = node_at(place);
  if (!node) return;
  stat->st_mode = kNodeMode;
  stat->st_rdev = makedev(node->major, node->minor);
  stat->st_size = 0;
}

// Calls `libc(directory, path)`, which fills `stat`.
template <typename Call>
int stat_at(int directory, const char* path, struct stat* stat, const Call& libc) {
  const Place place(directory, path);
  const int result = libc(place.directory(), place.path());
  if (result == 0 && place.is_ours()) dress(place, stat);
  return result;
}

using Fstatat = int(int, const char*, struct stat*, int);
using Fxstatat = int(int, int, const char*, struct stat*, int);
using Statx = int(int, const char*, int, unsigned, struct statx*);
using Faccessat = int(int, const char*, int, int);
VERBS_LIBC(Fstatat, fstatat);
VERBS_LIBC(Fxstatat, __fxstatat);  // before glibc 2.33 there is only this one
VERBS_LIBC(Statx, statx);
VERBS_LIBC(Faccessat, faccessat);

// Where struct stat and struct stat64 are one, so are the functions.
static_assert(sizeof(struct stat) == sizeof(struct stat64));

int stat_with_flags(int directory, const char* path, struct stat* stat, int flags) {
  return stat_at(directory, path, stat, [&](int at, const char* file) {
    constexpr int kVersion = 1;
    return libc_fstatat.find() ? libc_fstatat(at, file, stat, flags) : libc___fxstatat(kVersion, at, file, stat, flags);
  });
}

int old_stat(int version, int directory, const char* path, struct stat* stat, int flags) {
  return stat_at(directory, path, stat,
                 [&](int at, const char* file) { return libc___fxstatat(version, at, file, stat, flags); });
}

int access_with_flags(int directory, const char* path, int mode, int flags) {
  const Place place(directory, path);
  return libc_faccessat(place.directory(), place.path(), mode, flags);
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

VERBS_REPLACES(int, stat, const char* path, struct stat* stat) { return stat_with_flags(AT_FDCWD, path, stat, 0); }
VERBS_REPLACES(int, stat64, const char* path, struct stat* stat) { return stat_with_flags(AT_FDCWD, path, stat, 0); }
VERBS_REPLACES(int, lstat, const char* path, struct stat* stat) {
  return stat_with_flags(AT_FDCWD, path, stat, AT_SYMLINK_NOFOLLOW);
}
VERBS_REPLACES(int, lstat64, const char* path, struct stat* stat) {
  return stat_with_flags(AT_FDCWD, path, stat, AT_SYMLINK_NOFOLLOW);
}
VERBS_REPLACES(int, fstatat, int directory, const char* path, struct stat* stat, int flags) {
  return stat_with_flags(directory, path, stat, flags);
}
VERBS_REPLACES(int, fstatat64, int directory, const char* path, struct stat* stat, int flags) {
  return stat_with_flags(directory, path, stat, flags);
}

// The forms of programs that are linked with a glibc before 2.33.
VERBS_REPLACES(int, __xstat, int version, const char* path, struct stat* stat) {
  return old_stat(version, AT_FDCWD, path, stat, 0);
}
VERBS_REPLACES(int, __xstat64, int version, const char* path, struct stat* stat) {
  return old_stat(version, AT_FDCWD, path, stat, 0);
}
VERBS_REPLACES(int, __lxstat, int version, const char* path, struct stat* stat) {
  return old_stat(version, AT_FDCWD, path, stat, AT_SYMLINK_NOFOLLOW);
}
VERBS_REPLACES(int, __lxstat64, int version, const char* path, struct stat* stat) {
  return old_stat(version, AT_FDCWD, path, stat, AT_SYMLINK_NOFOLLOW);
}
VERBS_REPLACES(int, __fxstatat, int version, int directory, const char* path, struct stat* stat, int flags) {
  return old_stat(version, directory, path, stat, flags);
}
VERBS_REPLACES(int, __fxstatat64, int version, int directory, const char* path, struct stat* stat, int flags) {
  return old_stat(version, directory, path, stat, flags);
}

VERBS_REPLACES(int, statx, int directory, const char* path, int flags, unsigned mask, struct statx* stat) {
  const Place place(directory, path);
  const int result = libc_statx(place.directory(), place.path(), flags, mask, stat);
  if (result != 0 || !place.is_ours()) return result;
  stat->stx_uid = stat->stx_gid = 0;
  if (!S_ISREG(stat->stx_mode)) return 0;
  stat->stx_size = kFileSize;
  if (const auto node = node_at(place)) {
    stat->stx_mode = static_cast<decltype(stat->stx_mode)>(kNodeMode);
    stat->stx_rdev_major = node->major;
    stat->stx_rdev_minor = node->minor;
    stat->stx_size = 0;
  }
  return 0;
}

VERBS_REPLACES(int, access, const char* path, int mode) { return access_with_flags(AT_FDCWD, path, mode, 0); }
VERBS_REPLACES(int, faccessat, int directory, const char* path, int mode, int flags) {
  return access_with_flags(directory, path, mode, flags);
}
VERBS_REPLACES(int, euidaccess, const char* path, int mode) {
  return access_with_flags(AT_FDCWD, path, mode, AT_EACCESS);
}
VERBS_REPLACES(int, eaccess, const char* path, int mode) { return access_with_flags(AT_FDCWD, path, mode, AT_EACCESS); }

// Calls for symbolic links and whole paths, and extended attributes, which ls(1) asks for.

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
  ssize_t length = libc_readlinkat(place.directory(), place.path(), text, size);
  if (length <= 0 || place.is_ours()) return length;
  if (static_cast<std::size_t>(length) < size) return rename_in_tree(text, length);
  // It may be cut off, although the program has room for the name that it knows.
  char whole[PATH_MAX];
  length = libc_readlinkat(place.directory(), place.path(), whole, sizeof whole);
  if (length <= 0) return length;
  length = std::min(rename_in_tree(whole, length), static_cast<ssize_t>(size));
  std::memcpy(text, whole, static_cast<std::size_t>(length));
  return length;
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
