// Device memory: a small memory of the device. Regions make it reachable, and the application copies to and from it. It
// is shared with forked children, as the memory of an adapter is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nic/base/reasons.h"

namespace verbs::soft::nic {

class Dm {
 public:
  // `descriptor` is the memory's file, or -1; the object closes it.
  Dm(std::uint8_t* memory, std::size_t size, int descriptor) : address(memory), length(size), fd(descriptor) {}
  ~Dm();
  Dm(const Dm&) = delete;
  Dm& operator=(const Dm&) = delete;

  // 0; EFAULT outside the device memory or when the other side is not mapped; EINVAL unless `at` and `size` are
  // multiples of 4.
  int copy_in(std::uint64_t at, const void* from, std::size_t size);
  int copy_out(std::uint64_t at, void* to, std::size_t size) const;

  // A new descriptor of the memory, which ibv_reg_dmabuf_mr() takes, for the caller to close; -1 and errno.
  int export_fd() const;

  bool covers(std::uint64_t at, std::size_t size) const { return at <= length && size <= length - at; }

  std::uint8_t* const address;
  const std::size_t length;
  const int fd;
  std::atomic<std::uint32_t> regions{0};  // memory regions of it

 private:
  int check(std::uint64_t at, std::size_t size) const;
};

// The device memory that is left. Needs no lock, so that a forked child can allocate too.
class DmPool {
 public:
  explicit DmPool(std::size_t capacity) : left_(capacity) {}

  // 0, EINVAL (no length, an alignment beyond a page) or ENOMEM. The memory is zeros.
  int alloc(std::size_t length, std::uint32_t log_align, std::shared_ptr<Dm>* dm, Why* why = nullptr);
  // 0, or EBUSY while it has regions. The memory stays mapped until the last reference is gone.
  int free(const Dm& dm);

 private:
  std::atomic<std::size_t> left_;
};

}  // namespace verbs::soft::nic
