// Memory that the binding gives to JavaScript as ArrayBuffers: blocks of its own and buffers of libibverbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "binding/lifetime/handle.h"
#include "binding/memory/protection_domain.h"

namespace verbs::core {

// Page-aligned memory outside of JavaScript's heap, which both an ArrayBuffer and registrations may share.

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

// ibv_buf: memory that the library allocates for a protection domain, since release 64. JavaScript reaches it by
// copies, since it goes with its object.

class LibraryBuffer final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_BUF;

  // Owns `buf`, whose memory is `length` bytes at `data`.
  LibraryBuffer(std::shared_ptr<ProtectionDomain> pd, ibv_buf* buf, std::byte* data, std::size_t length)
      : Object(kKind, {pd}), pd_(std::move(pd)), buf_(buf), data_(data), length_(length) {}
  ~LibraryBuffer() override { dispose(); }

  void* pointer() const override { return buf_; }
  const Context& context() const override { return pd_->context(); }
  const ProtectionDomain& pd() const { return *pd_; }
  ibv_buf* buf() const { return buf_; }
  std::byte* data() const { return data_; }
  std::size_t length() const { return length_; }

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<ProtectionDomain> pd_;
  ibv_buf* buf_;
  std::byte* data_;
  std::size_t length_;
};

// The arguments of a copy between a Uint8Array and memory that JavaScript does not see.

// The part of the memory and the bytes that a copy is about: (memory, offset, bytes: Uint8Array).
template <typename Memory>
struct Copy {
  Taken<Memory> memory;
  std::uint64_t offset = 0;
  void* data = nullptr;
  std::size_t size = 0;
  bool inside = false;
};

template <typename Memory>
Copy<Memory> read_copy(const Napi::CallbackInfo& info) {
  Copy<Memory> copy{.memory = take<Memory>(info, 0), .offset = number_of<std::uint64_t>(info[1])};
  napi_typedarray_type type = napi_int8_array;
  if (napi_get_typedarray_info(info.Env(), info[2], &type, &copy.size, &copy.data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    throw Napi::TypeError::New(info.Env(), "such memory is copied from and to a Uint8Array");
  }
  copy.inside = copy.offset <= copy.memory->length() && copy.size <= copy.memory->length() - copy.offset;
  return copy;
}

}  // namespace verbs::core
