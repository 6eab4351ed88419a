// Where a loaded library is.
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

}  // namespace verbs::provider
