// Memory of a descriptor, which the NIC maps itself: a memory file (memfd) that cannot shrink. It stays mapped until
// the region of it is gone. A forked child shares it.
//
// The pages of up to 64 MiB are there from the start. But whoever has the descriptor may punch holes into the file, and
// the kernel may have no page for the next access then, which is a fault. A seal forbids holes: F_SEAL_WRITE, or
// F_SEAL_FUTURE_WRITE, which leaves the present mappings writable. The program adds the latter when all have mapped the
// file, hence after the registration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "link/offered_memory.h"

namespace verbs::soft::nic {

class FileMemory {
 public:
  static bool is_memory_file(int fd);
  // `fd` remains the caller's. 0; EINVAL for other files, and for a range that the file does not have; EPERM if
  // it is to be written and may not be; ENOMEM if there are not pages for all of it; or what else mmap() says. Makes
  // system calls: the caller must not hold a lock.
  static int map(int fd, std::uint64_t offset, std::size_t length, bool writable, std::unique_ptr<FileMemory>* memory);
  ~FileMemory();
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  std::uint8_t* address() const { return pages_ + skipped_; }  // of the offset
  // No access can fault any more, as far as the machine is sound: no hole can be made, and there is none. Looks for the
  // seal now and then.
  bool lasts() { return lasts_ || (looks_++ % kLooksApart == 0 && look_for_seal()); }
  // To processes that may map it as well.
  link::Offer offer() const;

 private:
  static constexpr unsigned kLooksApart = 64;

  FileMemory(int fd, std::uint8_t* pages, std::size_t size, std::uint64_t offset, std::size_t skipped, bool writable)
      : fd_(fd), pages_(pages), size_(size), offset_(offset), skipped_(skipped), writable_(writable) {}
  bool look_for_seal();

  int fd_;
  std::uint8_t* pages_;
  std::size_t size_;
  std::uint64_t offset_;  // of the first page
  std::size_t skipped_;   // bytes of it before the memory
  bool writable_;
  bool lasts_ = false;
  unsigned looks_ = 0;
};

}  // namespace verbs::soft::nic
