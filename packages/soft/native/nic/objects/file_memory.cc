#include "nic/objects/file_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "guard/fault_handler.h"
#include "nic/shared/mapped_memory.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint64_t kPage = 4096;
// F_SEAL_FUTURE_WRITE (Linux 5.1), which older C libraries do not name.
constexpr int kSealFutureWrite = 0x10;
// The most that is populated. Larger files may have more pages than the machine has, and are not looked through between
// two messages, which takes a millisecond for this size.
constexpr std::size_t kMostAtOnce = std::size_t{64} << 20;

int check_file(int fd, std::uint64_t offset, std::size_t length) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return errno;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return EINVAL;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return length == 0 || offset > size || length > size - offset ? EINVAL : 0;
}

}  // namespace

bool FileMemory::is_memory_file(int fd) { return fcntl(fd, F_GET_SEALS) >= 0; }

int FileMemory::map(int fd, std::uint64_t offset, std::size_t length, bool writable,
                    std::unique_ptr<FileMemory>* memory) {
  if (const int error = check_file(fd, offset, length)) return error;
  const auto skipped = static_cast<std::size_t>(offset % kPage);
  const std::size_t size = skipped + length;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return errno;
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  void* pages = mmap(nullptr, size, protection, MAP_SHARED, own, static_cast<off_t>(offset - skipped));
  if (pages == MAP_FAILED) {
    const int error = errno == EACCES ? EPERM : errno;
    close(own);
    return error;
  }
  const int populated = size <= kMostAtOnce ? populate_pages(pages, size, writable) : 0;
  if (populated != 0 && populated != EINVAL) {  // EINVAL: a kernel that cannot
    munmap(pages, size);
    close(own);
    return ENOMEM;
  }
  try {
    memory->reset(new FileMemory(own, static_cast<std::uint8_t*>(pages), size, offset - skipped, skipped, writable));
  } catch (...) {  // there is no memory
    munmap(pages, size);
    close(own);
    throw;
  }
  guard::put_in_front();
  return 0;
}

FileMemory::~FileMemory() {
  munmap(pages_, size_);
  close(fd_);
}

bool FileMemory::look_for_seal() {
  const int seals = fcntl(fd_, F_GET_SEALS);
  if (seals < 0 || (seals & (F_SEAL_WRITE | kSealFutureWrite)) == 0) return false;
  // Holes that were made before the seal. Without memory for them the guard remains, as for other memory.
  lasts_ = size_ <= kMostAtOnce && populate_pages(pages_, size_, writable_) == 0;
  return lasts_;
}

link::Offer FileMemory::offer() const {
  return {.address = reinterpret_cast<std::uintptr_t>(pages_),
          .size = size_,
          .offset = offset_,
          .fd = static_cast<std::uint32_t>(fd_)};
}

}  // namespace verbs::soft::nic
