#include "binding/memory/memory_block.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace verbs::core {
namespace {

thread_local std::size_t allocated_bytes = 0;

}  // namespace

MemoryBlock::MemoryBlock(std::shared_ptr<Environment> environment, std::byte* data, std::size_t length)
    : environment_(std::move(environment)), data_(data), length_(length) {
  allocated_bytes += length_;
}

std::size_t MemoryBlock::total_bytes() { return allocated_bytes; }

std::shared_ptr<MemoryBlock> MemoryBlock::allocate(std::shared_ptr<Environment> environment, std::size_t length) {
  void* data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : own(std::move(environment), data, length);
}

std::shared_ptr<MemoryBlock> MemoryBlock::allocate_file(std::shared_ptr<Environment> environment, std::size_t length,
                                                        int* fd) {
  // A file beyond the process's limit would raise SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < length) {
    errno = EFBIG;
    return nullptr;
  }
  *fd = memfd_create("verbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (*fd < 0) return nullptr;
  void* data = MAP_FAILED;
  if (ftruncate(*fd, static_cast<off_t>(length)) == 0 && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  }
  if (data != MAP_FAILED) return own(std::move(environment), data, length);
  const int error = errno;
  close(*fd);
  errno = error;
  return nullptr;
}

std::shared_ptr<MemoryBlock> MemoryBlock::own(std::shared_ptr<Environment> environment, void* data,
                                              std::size_t length) {
  Environment& registry = *environment;
  std::shared_ptr<MemoryBlock> block(new MemoryBlock(std::move(environment), static_cast<std::byte*>(data), length));
  registry.blocks[reinterpret_cast<std::uintptr_t>(data)] = block;
  return block;
}

std::shared_ptr<MemoryBlock> MemoryBlock::find(const Environment& environment, const void* address,
                                               std::size_t length) {
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  auto after = environment.blocks.upper_bound(start);
  if (after == environment.blocks.begin()) return nullptr;
  std::shared_ptr<MemoryBlock> block = std::prev(after)->second.lock();
  if (block == nullptr) return nullptr;
  const std::size_t offset = start - reinterpret_cast<std::uintptr_t>(block->data_);
  return offset <= block->length_ && length <= block->length_ - offset ? block : nullptr;
}

MemoryBlock::~MemoryBlock() {
  environment_->blocks.erase(reinterpret_cast<std::uintptr_t>(data_));
  munmap(data_, length_);
  allocated_bytes -= length_;
}

}  // namespace verbs::core
