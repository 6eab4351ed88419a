// Exports the function NAME_both as NAME under the version nodes of DOCA 2.2 (EXPERIMENTAL) and 2.5 (DOCA_2). For names
// that both releases have.
#pragma once

#include <type_traits>

#define VERBS_DOCA_BOTH(name)                                                                \
  static_assert(std::is_same_v<decltype(name), decltype(name##_both)>);                      \
  extern "C" __attribute__((alias(#name "_both"), used)) decltype(name) name##_experimental; \
  __asm__(".symver " #name "_both," #name "@@DOCA_2\n.symver " #name "_experimental," #name "@EXPERIMENTAL")
