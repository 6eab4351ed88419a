#include "nic/base/guarded_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "guard/access_guard.h"
#include "guard/fault_signals.h"
#include "guard/small_copy.h"

namespace verbs::soft::nic {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VERBS_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define VERBS_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define VERBS_ADDRESS_SANITIZER
#elif defined(__SANITIZE_THREAD__)
#define VERBS_THREAD_SANITIZER
#endif

// A fault inside ThreadSanitizer's own runtime cannot be left by a jump, so guarded accesses are not instrumented. They
// use built-in functions, because the templates of <atomic> would be instrumented.
#define VERBS_NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))

VERBS_NO_THREAD_SANITIZER void swap_word(std::uint64_t* at, std::uint64_t* original, std::uint64_t swap) {
  __atomic_compare_exchange_n(at, original, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

VERBS_NO_THREAD_SANITIZER std::uint64_t add_word(std::uint64_t* at, std::uint64_t add) {
  return __atomic_fetch_add(at, add, __ATOMIC_SEQ_CST);
}

VERBS_NO_THREAD_SANITIZER void store_word(std::uint64_t* at, std::uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
}

// The sanitizers end the process at address 0 and at addresses outside the user address space, where a plain access
// would fault. Such copies are not instrumented.
#if defined(VERBS_ADDRESS_SANITIZER) || defined(VERBS_THREAD_SANITIZER)
__attribute__((no_sanitize("address", "undefined"))) VERBS_NO_THREAD_SANITIZER void copy_unchecked(void* to,
                                                                                                   const void* from,
                                                                                                   std::size_t size) {
  auto* target = static_cast<volatile std::uint8_t*>(to);
  const auto* source = static_cast<const volatile std::uint8_t*>(from);
  for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
}
#endif

#if defined(VERBS_THREAD_SANITIZER)
void copy_bytes(void* to, const void* from, std::size_t size) { copy_unchecked(to, from, size); }
#elif defined(VERBS_ADDRESS_SANITIZER)
constexpr std::uintptr_t kEndOfProcess = std::uintptr_t{1} << 47;

void copy_bytes(void* to, const void* from, std::size_t size) {
  const std::uintptr_t highest = std::max(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from));
  // Address 0 is a fault like any other: a program may post an inline element there.
  if (highest < kEndOfProcess && to != nullptr && from != nullptr) {
    std::memcpy(to, from, size);
  } else {
    copy_unchecked(to, from, size);
  }
}
#else
void copy_bytes(void* to, const void* from, std::size_t size) { std::memcpy(to, from, size); }
#endif

}  // namespace

bool guarded_copy(void* to, const void* from, std::size_t size, bool lasts) {
  if (size != 0 && !lasts) guard::admit_fault_signals();
  return copy_argument(to, from, size);
}

bool copy_argument(void* to, const void* from, std::size_t size) {
  if (size <= guard::kSmallCopy) return size == 0 || guard::small_copy(to, from, size);
  return size == 0 || guard::guarded(to, from, size, [=] { copy_bytes(to, from, size); });
}

bool guarded_compare_swap(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t* original, bool lasts) {
  if (!lasts) guard::admit_fault_signals();
  *original = compare;
  return guard::guarded(at, at, sizeof swap, [=] { swap_word(static_cast<std::uint64_t*>(at), original, swap); });
}

bool guarded_fetch_add(void* at, std::uint64_t add, std::uint64_t* original, bool lasts) {
  if (!lasts) guard::admit_fault_signals();
  return guard::guarded(at, at, sizeof add, [=] { *original = add_word(static_cast<std::uint64_t*>(at), add); });
}

bool guarded_store(void* at, std::uint64_t value, bool lasts) {
  if (!lasts) guard::admit_fault_signals();
  return guard::guarded(at, at, sizeof value, [=] { store_word(static_cast<std::uint64_t*>(at), value); });
}

}  // namespace verbs::soft::nic
