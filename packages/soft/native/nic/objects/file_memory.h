// Memory of a descriptor, which the NIC maps itself: a memory file (memfd) that cannot shrink. It stays mapped until
// the region of it is gone. A forked child shares it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "link/offered_memory.h"

namespace verbs::soft::nic {

class FileMemory {
 public:
  // `fd` remains the caller's. 0; EBADF; EINVAL for other files, and for a range that the file does not have; EPERM if
  // it is to be written and may not be; or what else mmap() says. Makes system calls: the caller must not hold a lock.
  static int map(int fd, std::uint64_t offset, std::size_t length, bool writable, std::unique_ptr<FileMemory>* memory);
  ~FileMemory();
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  std::uint8_t* address() const { return pages_ + skipped_; }  // of the offset
  // To processes that may map it as well.
  link::Offer offer() const;

 private:
  FileMemory(int fd, std::uint8_t* pages, std::size_t size, std::uint64_t offset, std::size_t skipped)
      : fd_(fd), pages_(pages), size_(size), offset_(offset), skipped_(skipped) {}

  int fd_;
  std::uint8_t* pages_;
  std::size_t size_;
  std::uint64_t offset_;  // of the first page
  std::size_t skipped_;   // bytes of it before the memory
};

}  // namespace verbs::soft::nic
