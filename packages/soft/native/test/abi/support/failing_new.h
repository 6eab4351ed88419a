// Allocations that fail when a test wants it: operator new is replaced in the whole process, libraries included.
#pragma once

namespace verbs::soft::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kAllocationsCanFail = false;  // the sanitizer has replaced operator new
#else
inline constexpr bool kAllocationsCanFail = true;
#endif

// The nth allocation of this thread from now on throws std::bad_alloc, once; 0: none does.
void fail_allocation(int nth);
// The nth and all later ones.
void fail_allocations_from(int nth);
// Whether one has thrown.
bool allocation_failed();
// Every nth allocation of any thread throws; 0: none does.
void fail_every_allocation(int nth);

}  // namespace verbs::soft::test
