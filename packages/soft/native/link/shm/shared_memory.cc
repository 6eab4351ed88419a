#include "link/shm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "guard/memory_file.h"

namespace verbs::soft::link {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

int SharedMemory::create(std::size_t size, SharedMemory* memory, int* fd) {
  // The receiver's kernel refuses more seals, so that nobody can make the memory unwritable either.
  if (const int error = make_memory_file("verbs-soft", size, kSizeSeals | F_SEAL_SEAL, fd)) return error;
  const int error = map(*fd, size, memory);
  if (error != 0) close(*fd);
  return error;
}

int SharedMemory::map(int fd, std::size_t size, SharedMemory* memory) {
  const int seals = fcntl(fd, F_GET_SEALS);  // -1: no memory file
  struct stat status{};
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals || fstat(fd, &status) != 0) return EINVAL;
  if (status.st_size != static_cast<off_t>(size)) return EINVAL;
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return errno;
  (void)madvise(at, size, MADV_DONTFORK);
  SharedMemory mapped;
  mapped.data_ = static_cast<std::uint8_t*>(at);
  mapped.size_ = size;
  *memory = std::move(mapped);
  return 0;
}

}  // namespace verbs::soft::link
