// Memory from the kernel, for as long as an object lives: malloc() may be in the middle of something.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <string_view>

#include "system/libc.h"

namespace verbs::soft::system {

class Memory {
 public:
  Memory() = default;
  ~Memory() {
    if (data_) syscall(SYS_munmap, data_, room_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* data() { return data_; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }
  void resize(std::size_t size) { size_ = size; }

  // Room for so many bytes behind the present ones. False: there is none.
  bool reserve(std::size_t more) {
    if (size_ + more <= room_) return true;
    std::size_t room = room_ == 0 ? kFirst : room_;
    while (room < size_ + more) room *= 2;
    const long at = data_
                        ? syscall(SYS_mremap, data_, room_, room, MREMAP_MAYMOVE)
                        : syscall(SYS_mmap, nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == -1) return false;
    data_ = reinterpret_cast<char*>(at);
    room_ = room;
    return true;
  }
  bool add(const void* bytes, std::size_t size) {
    if (!reserve(size)) return false;
    std::memcpy(data_ + size_, bytes, size);
    size_ += size;
    return true;
  }
  // Adds what can be read of the descriptor. False: it cannot be read, or there is no memory.
  bool add_file(int fd) {
    for (;;) {
      if (!reserve(kAtOnce)) return false;
      const long count = syscall(SYS_read, fd, data_ + size_, kAtOnce);
      if (count <= 0) return count == 0;
      size_ += static_cast<std::size_t>(count);
    }
  }

 private:
  static constexpr std::size_t kFirst = 65536, kAtOnce = 16384;

  char* data_ = nullptr;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
};

}  // namespace verbs::soft::system
