// Memory that two processes have mapped. It is sealed against any change of its size, so that no access to it can
// fault, whatever the other process does. A forked child does not get it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::soft::link {

class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  // New memory, all zero, and in `fd` its descriptor for the other process, which the caller closes. 0 or errno.
  static int create(std::size_t size, SharedMemory* memory, int* fd);
  // Memory of another process. 0 or errno: EINVAL if it is not sealed memory of this size. The caller closes `fd`.
  static int map(int fd, std::size_t size, SharedMemory* memory);

  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace verbs::soft::link
