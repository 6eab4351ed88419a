// Names under two version nodes. VERBS_DOCA_BOTH exports the function NAME_both as NAME under those of DOCA 2.2
// (EXPERIMENTAL) and 2.5 (DOCA_2), for names that both releases have. VERBS_DOCA_ALSO exports NAME, which is under
// DOCA_2, under EXPERIMENTAL too: what is stable in 3.x was experimental in 2.7.
#pragma once

#include <type_traits>

#define VERBS_DOCA_BOTH(name)                                                                \
  static_assert(std::is_same_v<decltype(name), decltype(name##_both)>);                      \
  extern "C" __attribute__((alias(#name "_both"), used)) decltype(name) name##_experimental; \
  __asm__(".symver " #name "_both," #name "@@DOCA_2\n.symver " #name "_experimental," #name "@EXPERIMENTAL")

#define VERBS_DOCA_STABLE(name)                                                       \
  extern "C" decltype(name) name __asm__("both_" #name);                              \
  extern "C" __attribute__((alias("both_" #name), used)) decltype(name) older_##name; \
  __asm__(".symver both_" #name "," #name "@@DOCA_2\n.symver older_" #name "," #name "@EXPERIMENTAL")
