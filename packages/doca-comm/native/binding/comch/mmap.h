// Memory that the fast path sends from and receives into (doca_mmap): ours, so that nothing that JavaScript does takes
// it away from a transfer.
#pragma once

#include <memory>

#include "binding/device.h"

namespace verbs::doca_comm::binding {

// Pages of the system, zero at first. The ArrayBuffers of JavaScript keep them, and so does the mmap.
class Pages {
 public:
  // Null if there is no memory.
  static std::shared_ptr<Pages> allocate(std::size_t length);
  // Of a memory file, for a device that maps it as well. The caller closes `*fd`.
  static std::shared_ptr<Pages> allocate_file(std::size_t length, int* fd);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uint8_t* data() const { return data_; }
  std::size_t length() const { return length_; }

 private:
  Pages(std::uint8_t* data, std::size_t length) : data_(data), length_(length) {}

  std::uint8_t* const data_;
  const std::size_t length_;
};

// Its handle in JavaScript holds a pointer to it, null once it is closed. Consumers, and transfers under way, keep it.
class Mmap {
 public:
  // Of new memory. Null with the error.
  static std::shared_ptr<Mmap> create(std::shared_ptr<OpenDevice> device, std::size_t length, std::uint32_t permissions,
                                      doca_error_t* error);
  ~Mmap();
  Mmap(const Mmap&) = delete;
  Mmap& operator=(const Mmap&) = delete;

  const Library& library() const { return device_->library; }
  doca_mmap* get() const { return mmap_; }
  const std::shared_ptr<Pages>& pages() const { return pages_; }
  bool contains(std::uint64_t offset, std::uint64_t length) const {
    return offset <= pages_->length() && length <= pages_->length() - offset;
  }

 private:
  Mmap(std::shared_ptr<OpenDevice> device, std::shared_ptr<Pages> pages)
      : device_(std::move(device)), pages_(std::move(pages)) {}
  // Of the file `fd`, or with -1 of ordinary memory.
  doca_error_t start(int fd, std::uint32_t permissions);

  const std::shared_ptr<OpenDevice> device_;
  const std::shared_ptr<Pages> pages_;
  doca_mmap* mmap_ = nullptr;
};

}  // namespace verbs::doca_comm::binding
