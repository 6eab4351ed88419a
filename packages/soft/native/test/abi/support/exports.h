// The functions that a library exports: none may be missing in a test that is about all of them.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <set>
#include <string>

namespace verbs::soft::test {

// Of a library that is loaded; empty if it is not. By its dynamic symbols, whose number only the hash table tells.
inline std::set<std::string> exported_functions(const char* library) {
  std::set<std::string> names;
  void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  link_map* map = nullptr;
  if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return names;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* hash = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const std::uint32_t*>(address);
  }
  if (!symbols || !strings || !hash) return names;
  const std::uint32_t buckets = hash[0], first = hash[1], bloom = hash[2];
  const std::uint32_t* const bucket = hash + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chain = bucket + buckets;
  for (std::uint32_t i = 0; i < buckets; ++i) {
    for (std::uint32_t at = bucket[i]; at >= first; ++at) {
      if (ELF64_ST_TYPE(symbols[at].st_info) == STT_FUNC) names.insert(strings + symbols[at].st_name);
      if ((chain[at - first] & 1) != 0) break;
    }
  }
  dlclose(handle);
  return names;
}

}  // namespace verbs::soft::test
