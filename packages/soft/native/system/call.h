// What the replaced functions of libc share.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <optional>

#include "system/paths.h"
#include "system/tree.h"

// Declares a function of ours that has the name of libc's in the library: so that the declaration in libc's header,
// which knows that no pointer is null, is not in the way.
#define VERBS_REPLACES(result, name, ...)                                                               \
  extern "C" __attribute__((visibility("default"))) result replaced_##name(__VA_ARGS__) __asm__(#name); \
  result replaced_##name(__VA_ARGS__)

namespace verbs::soft::system {

// libc's own function.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Where the path leads, in calls of the program. Calls that the search itself makes are libc's; errno stays.
inline std::optional<Tree::Place> place_of(int directory, const char* path) {
  if (Own::is_active() || !path || (path[0] == '/' && !may_be_in_folder(path))) return std::nullopt;
  const int before = errno;
  std::optional<Tree::Place> place;
  try {
    const Own own;
    place = Tree::get().find(directory, path);
  } catch (...) {
    // There is no memory or no room for the tree: the program sees the machine as it is.
  }
  errno = before;
  return place;
}

}  // namespace verbs::soft::system
