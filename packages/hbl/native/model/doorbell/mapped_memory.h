// Whole pages that the device and the application share.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace verbs::hbl::model {

class MappedMemory {
 public:
  MappedMemory() = default;
  ~MappedMemory() { reset(); }
  MappedMemory(MappedMemory&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
    return *this;
  }

  // Zeroed, at least `size` bytes; false without memory.
  bool allocate(std::size_t size) {
    reset();
    const std::size_t pages = (size + 4095) / 4096 * 4096;
    void* memory = mmap(nullptr, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    address_ = memory;
    size_ = pages;
    return true;
  }
  void reset() {
    if (address_) munmap(address_, size_);
    address_ = nullptr;
    size_ = 0;
  }
  template <typename T = void>
  T* as() const {
    return static_cast<T*>(address_);
  }
  std::size_t size() const { return size_; }

 private:
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace verbs::hbl::model
