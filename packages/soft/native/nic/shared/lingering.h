// Memory of objects that programs hold pointers to, and that calls read before they take a lock. A call may be under
// way with an object that another thread destroys, which is the program's error; it must find an object that is gone,
// and not somebody else's memory. So the last kept ones of a type stay as they are, until as many others were
// destroyed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace verbs::soft::nic {

// A base class. Without a lock, so that a fork cannot leave one behind.
template <typename T>
class Lingering {
 public:
  static constexpr std::size_t kKept = 1024;

  // Not inline: then compilers see a pair.
  [[gnu::noinline]] static void* operator new(std::size_t size) { return ::operator new(size); }
  [[gnu::noinline]] static void operator delete(void* at) {
    const std::size_t next = count.fetch_add(1, std::memory_order_relaxed) % kKept;
    ::operator delete(gone[next].exchange(at, std::memory_order_acq_rel));
  }

 private:
  static inline std::atomic<std::size_t> count{0};
  static inline std::array<std::atomic<void*>, kKept> gone{};
};

}  // namespace verbs::soft::nic
