// A zero-initialised array of plain values that uses memory only for the pages that are written: a queue with room for
// thousands of requests costs only as much as is posted. The kernel's zero pages do that.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace verbs::soft::nic {

template <typename T>
class LazyArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  LazyArray() = default;
  LazyArray(LazyArray&& other) noexcept { *this = std::move(other); }
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~LazyArray() { release(); }

  // Throws std::bad_alloc.
  void allocate(std::size_t size) {
    release();
    if (size == 0) return;
    const std::size_t bytes = size * sizeof(T);
    void* memory = bytes < kMapped ? std::calloc(size, sizeof(T))
                                   : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == nullptr || memory == MAP_FAILED) throw std::bad_alloc();
    values_ = static_cast<T*>(memory);
    size_ = size;
  }

  std::size_t size() const { return size_; }
  T* data() { return values_; }
  T& operator[](std::size_t index) { return values_[index]; }
  const T& operator[](std::size_t index) const { return values_[index]; }

 private:
  // Arrays from this size on are mapped: the heap would reuse pages, and have to clear them.
  static constexpr std::size_t kMapped = 32768;

  void release() {
    if (size_ * sizeof(T) < kMapped) {
      std::free(values_);
    } else {
      munmap(values_, size_ * sizeof(T));
    }
    values_ = nullptr;
    size_ = 0;
  }

  T* values_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace verbs::soft::nic
