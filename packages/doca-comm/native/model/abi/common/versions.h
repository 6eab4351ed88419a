// Names that are spelled alike in 2.2 and 2.5 are found under both version nodes. The function is called NAME_both.
#pragma once

#include <type_traits>

#define VERBS_DOCA_BOTH(name)                                                                \
  static_assert(std::is_same_v<decltype(name), decltype(name##_both)>);                      \
  extern "C" __attribute__((alias(#name "_both"), used)) decltype(name) name##_experimental; \
  __asm__(".symver " #name "_both," #name "@@DOCA_2\n.symver " #name "_experimental," #name "@EXPERIMENTAL")
