#include "test/abi/support/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace verbs::soft::test {

namespace {

thread_local int left = 0;
thread_local bool persists = false;
thread_local bool failed = false;
std::atomic<int> every{0};
std::atomic<unsigned> count{0};

[[maybe_unused]] bool fails() {
  if (left > 0 && --left == 0) {
    left = persists ? 1 : 0;
    return failed = true;
  }
  const int nth = every.load(std::memory_order_relaxed);
  return nth > 0 && count.fetch_add(1, std::memory_order_relaxed) % static_cast<unsigned>(nth) == 0;
}

}  // namespace

void fail_allocation(int nth) {
  left = nth;
  persists = failed = false;
}

void fail_allocations_from(int nth) {
  fail_allocation(nth);
  persists = true;
}

bool allocation_failed() { return failed; }

void fail_every_allocation(int nth) { every = nth; }

}  // namespace verbs::soft::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  if (verbs::soft::test::fails()) return nullptr;
  if (alignment == 0) return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(allocate(size, 0)); }
void* operator new[](std::size_t size) { return or_throw(allocate(size, 0)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 0); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t at) { return or_throw(allocate(size, std::size_t(at))); }
void* operator new[](std::size_t size, std::align_val_t at) { return or_throw(allocate(size, std::size_t(at))); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
