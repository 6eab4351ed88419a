// What the loader knows of a library: where it is, and its symbols by their versions.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace verbs::provider {

// The file of a library by its own name, behind all links: '/usr/lib/x86_64-linux-gnu/libmlx5.so.1.24.44.0', which
// tells the release of an rdma-core. Empty if it cannot be told.
inline std::string loaded_file(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map) return {};
  const std::unique_ptr<char, void (*)(void*)> file(realpath(map->l_name, nullptr), std::free);
  return file ? file.get() : std::string();
}

// nullptr if the library does not have it. musl's loader knows no versions of symbols: there it is the function of that
// name.
inline void* versioned_symbol(void* library, const char* name, const char* version) {
#if defined(__GLIBC__)
  return dlvsym(library, name, version);
#else
  static_cast<void>(version);
  return dlsym(library, name);
#endif
}

}  // namespace verbs::provider
