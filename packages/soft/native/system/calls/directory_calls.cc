// Calls for folders: opening, reading, and being in one.
#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "system/calls/read_calls.h"
#include "system/libc.h"
#include "system/place.h"
#include "system/tree.h"

namespace verbs::soft::system {

namespace {

template <typename Entry>
using Filter = int(const Entry*);
template <typename Entry>
using Order = int(const Entry**, const Entry**);
template <typename Entry>
using Scandir = int(const char*, Entry***, Filter<Entry>*, Order<Entry>*);
using Opendir = DIR*(const char*);
using Readdir = dirent*(DIR*);
using Readdir64 = dirent64*(DIR*);
using Scandir32 = Scandir<dirent>;
using Scandir64 = Scandir<dirent64>;
using Chdir = int(const char*);
using Getcwd = char*(char*, std::size_t);
VERBS_LIBC(Opendir, opendir);
VERBS_LIBC(Readdir, readdir);
VERBS_LIBC(Readdir64, readdir64);
VERBS_LIBC(Scandir32, scandir);
VERBS_LIBC(Scandir64, scandir64);
VERBS_LIBC(Chdir, chdir);
VERBS_LIBC(Getcwd, getcwd);

bool has_nodes(DIR* folder) {
  const KeepErrno keep;
  TextOf<32> link;
  TextOf<machine::kRootRoom + machine::kNameRoom> path;
  add_descriptor_path(&link, dirfd(folder));
  const long size = kernel::read_link(link.c_str(), path.letters(), machine::kRootRoom + machine::kNameRoom - 1);
  if (size <= 0) return false;
  path.resize(static_cast<std::size_t>(size));
  return name_in_tree(path.view()) == kNodes;
}

// The entries of /dev/infiniband are character devices, also for programs that do not ask stat().
template <typename Entry>
Entry* dressed(DIR* folder, Entry* entry) {
  if (!entry || entry->d_type != DT_REG || !knows_folders()) return entry;
  const std::string_view name = entry->d_name;
  if ((name.starts_with("uverbs") || name == "rdma_cm") && has_nodes(folder)) entry->d_type = DT_CHR;
  return entry;
}

// For a call that gives the program a folder of this path: relative paths count from now on.
void note(const Place& place) {
  if (place.is_ours()) note_folder();
}

template <typename Entry>
int scan(Libc<Scandir<Entry>>& libc, const char* path, Entry*** list, Filter<Entry>* filter, Order<Entry>* order) {
  const Place place(AT_FDCWD, path);
  return libc(place.path(), list, filter, order);
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

VERBS_REPLACES(DIR*, opendir, const char* path) {
  const Place place(AT_FDCWD, path);
  note(place);
  return libc_opendir(place.path());
}

VERBS_REPLACES(dirent*, readdir, DIR* folder) { return dressed(folder, libc_readdir(folder)); }
VERBS_REPLACES(dirent64*, readdir64, DIR* folder) { return dressed(folder, libc_readdir64(folder)); }

VERBS_REPLACES(int, scandir, const char* path, dirent*** list, Filter<dirent>* filter, Order<dirent>* order) {
  return scan(libc_scandir, path, list, filter, order);
}
VERBS_REPLACES(int, scandir64, const char* path, dirent64*** list, Filter<dirent64>* filter, Order<dirent64>* order) {
  return scan(libc_scandir64, path, list, filter, order);
}

VERBS_REPLACES(int, chdir, const char* path) {
  const Place place(AT_FDCWD, path);
  note(place);
  return libc_chdir(place.path());
}

VERBS_REPLACES(char*, getcwd, char* buffer, std::size_t size) {
  char* const name = rename_in_tree(libc_getcwd(buffer, size));
  if (name || errno != ERANGE) return name;
  // The folder's own path may be longer than the name that the program knows.
  char whole[PATH_MAX];
  if (!rename_in_tree(libc_getcwd(whole, sizeof whole))) return nullptr;
  const std::size_t length = std::strlen(whole) + 1;
  if (length > size) {
    errno = ERANGE;
    return nullptr;
  }
  // Without a buffer, in memory of so many bytes.
  void* const given = buffer ? buffer : std::malloc(size);
  return given ? static_cast<char*>(std::memcpy(given, whole, length)) : nullptr;
}
VERBS_REPLACES(char*, __getcwd_chk, char* buffer, std::size_t size, std::size_t room) {
  if (size > room) std::abort();
  return getcwd(buffer, size);
}
