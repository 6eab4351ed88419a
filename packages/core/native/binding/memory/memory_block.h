// Page-aligned memory outside of JavaScript's heap, which both an ArrayBuffer and registrations may share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "binding/lifetime/environment.h"

namespace verbs::core {

class MemoryBlock {
 public:
  // Zeroed memory of whole pages; null with errno set if there is none.
  static std::shared_ptr<MemoryBlock> allocate(std::shared_ptr<Environment> environment, std::size_t length);
  // The same in a memory file that cannot shrink, whose descriptor `fd` the caller closes. Forked children share it.
  static std::shared_ptr<MemoryBlock> allocate_file(std::shared_ptr<Environment> environment, std::size_t length,
                                                    int* fd);
  // The block that the range lies in, if it is one of allocMr's.
  static std::shared_ptr<MemoryBlock> find(const Environment& environment, const void* address, std::size_t length);

  ~MemoryBlock();
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  // How many bytes of such memory this thread has.
  static std::size_t total_bytes();

  std::byte* data() const { return data_; }
  std::size_t length() const { return length_; }

 private:
  MemoryBlock(std::shared_ptr<Environment> environment, std::byte* data, std::size_t length);
  static std::shared_ptr<MemoryBlock> own(std::shared_ptr<Environment> environment, void* data, std::size_t length);

  std::shared_ptr<Environment> environment_;
  std::byte* data_;
  std::size_t length_;
};

}  // namespace verbs::core
