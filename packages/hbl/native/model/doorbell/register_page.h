// Pages of device registers in ordinary memory.
//
// On the hardware each store to a register is a transaction of its own; memory would keep only the last of two stores
// to the same address. Therefore the pages are read-only: a store faults, and the fault handler of the process, which
// is the NIC's, calls the model's. That decodes the instruction, passes the value to the register's ring and continues
// behind the instruction. Reads give zeros. A store costs about as much as a system call.
//
// There is a decoder for the stores of x86-64. On other processors there are no pages, as on a device that does not let
// user space map its registers.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "verbs_soft_extension.h"

namespace verbs::hbl::model {

class DoorbellRing;

class RegisterPage {
 public:
  static std::mutex& allocation_lock();  // for forks; no other lock is taken under it
  static constexpr std::uint32_t kSize = 4096;
  static constexpr std::uint32_t kOddOffset = 0x800;  // of the second register of a page
  static constexpr int kRegisters = 2;

  // nullptr without a decoder or a free page.
  static RegisterPage* allocate(const verbs_soft_extension_table& soft);
  static void free(RegisterPage* page);

  void* address() const;
  // Directs stores to the register to `ring`; nullptr discards them. On return no store to the former ring is in
  // progress.
  void connect(int index, DoorbellRing* ring);
};

// Whole pages that the device and the application share.

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
