// A function of a vendor's library by its symbol version.
#pragma once

#include <dlfcn.h>

namespace verbs::provider {

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
