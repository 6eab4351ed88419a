// A guarded copy of few bytes without an AccessGuard, whose sigsetjmp() would take longer than the copy. Its
// instructions are known to the fault handler: a fault in them makes the copy return false.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstddef>

// Not under the sanitizers, which have to see every access.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VERBS_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VERBS_SANITIZED
#endif

namespace verbs::soft::guard {

// The most bytes of one call; 0 where there is no such copy.
#if defined(__x86_64__) && !defined(VERBS_SANITIZED)
inline constexpr std::size_t kSmallCopy = 256;
#else
inline constexpr std::size_t kSmallCopy = 0;
#endif

// memcpy() of 1 to kSmallCopy bytes. False when a page of either side is not mapped or not accessible; a part of the
// bytes may have been copied. The last bytes are written last.
bool small_copy(void* to, const void* from, std::size_t size);

// In the signal handler: whether the fault was in a small copy. The thread then continues with its failure.
bool end_small_copy(const siginfo_t& info, ucontext_t* context);

}  // namespace verbs::soft::guard
