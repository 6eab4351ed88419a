// Functions that programs built with the SDK need besides devices: the version, and what inline functions of its
// headers call (the node INTERNAL).
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "doca_version.h"

extern "C" {

const char* doca_version_runtime(void) { return "2.8.0"; }

void* priv_doca_zalloc(std::size_t size);
void priv_doca_free(void* memory);
std::size_t priv_doca_strlcpy(char* to, const char* from, std::size_t size);

void* priv_doca_zalloc(std::size_t size) { return std::calloc(1, size); }
void priv_doca_free(void* memory) { std::free(memory); }

// As strlcpy(3): at most size - 1 characters and a NUL; the result is the length of `from`.
std::size_t priv_doca_strlcpy(char* to, const char* from, std::size_t size) {
  const std::size_t length = std::strlen(from);
  if (size == 0) return length;
  const std::size_t copied = std::min(length, size - 1);
  std::memcpy(to, from, copied);
  to[copied] = '\0';
  return length;
}

}  // extern "C"
