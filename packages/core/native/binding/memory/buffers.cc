#include "binding/memory/buffers.h"

#include <sys/mman.h>

#include <cstring>

#include "provider/memory_file.h"

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
  void* data = provider::map_memory_file(length, fd);
  return data == nullptr ? nullptr : own(std::move(environment), data, length);
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

int LibraryBuffer::destroy() {
  context().functions().free_buf(buf_);
  return 0;
}

int LibraryBuffer::destroyed(int) {
  buf_ = nullptr;
  return 0;
}

namespace {

// allocBuf(pd, length): handle | -errno
Napi::Value alloc_buf(const Napi::CallbackInfo& info) {
  const auto pd = take<ProtectionDomain>(info, 0);
  const Functions& functions = pd->context().functions();
  if (functions.alloc_buf == nullptr || functions.free_buf == nullptr) return failure(info.Env(), EOPNOTSUPP);
  const auto length = number_of<std::size_t>(info[1]);
  ibv_buf* buf = nullptr;
  errno = 0;
  void* data = functions.alloc_buf(pd->pd(), length, &buf);
  if (data == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(), std::make_shared<LibraryBuffer>(pd, buf, static_cast<std::byte*>(data), length));
}

// copyToBuf(buf, offset, bytes), copyFromBuf(buf, offset, bytes): 0 | -errno
Napi::Value copy_to_buf(const Napi::CallbackInfo& info) {
  const auto copy = read_copy<LibraryBuffer>(info);
  if (!copy.inside) return failure(info.Env(), EINVAL);
  if (copy.size != 0) std::memcpy(copy.memory->data() + copy.offset, copy.data, copy.size);
  return failure(info.Env(), 0);
}

Napi::Value copy_from_buf(const Napi::CallbackInfo& info) {
  const auto copy = read_copy<LibraryBuffer>(info);
  if (!copy.inside) return failure(info.Env(), EINVAL);
  if (copy.size != 0) std::memcpy(copy.data, copy.memory->data() + copy.offset, copy.size);
  return failure(info.Env(), 0);
}

// exportBufFd(buf): a descriptor, which the caller closes | -errno
Napi::Value export_buf_fd(const Napi::CallbackInfo& info) {
  const auto buffer = take<LibraryBuffer>(info, 0);
  const auto call = buffer->context().functions().export_buf_dmabuf_fd;
  if (call == nullptr) return failure(info.Env(), EOPNOTSUPP);
  errno = 0;
  const int fd = call(buffer->buf());
  return fd < 0 ? failure(info.Env(), creation_error()) : number(info.Env(), fd);
}

}  // namespace

void LibraryBuffer::init(Napi::Object exports) {
  export_function<alloc_buf>(exports, "allocBuf");
  export_function<copy_to_buf>(exports, "copyToBuf");
  export_function<copy_from_buf>(exports, "copyFromBuf");
  export_function<export_buf_fd>(exports, "exportBufFd");
}

}  // namespace verbs::core
