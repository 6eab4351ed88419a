#include "binding/comch/mmap.h"

#include <sys/mman.h>
#include <unistd.h>

#include "provider/memory_file.h"

namespace verbs::doca_comm::binding {

std::shared_ptr<Pages> Pages::allocate(std::size_t length) {
  void* data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  return std::shared_ptr<Pages>(new Pages(static_cast<std::uint8_t*>(data), length));
}

Pages::~Pages() { munmap(data_, length_); }

std::shared_ptr<Pages> Pages::allocate_file(std::size_t length, int* fd) {
  void* data = provider::map_memory_file(length, fd);
  return data ? std::shared_ptr<Pages>(new Pages(static_cast<std::uint8_t*>(data), length)) : nullptr;
}

std::shared_ptr<Mmap> Mmap::create(std::shared_ptr<OpenDevice> device, std::size_t length, std::uint32_t permissions,
                                   doca_error_t* error) {
  // A card takes no memory file for a dma-buf, and needs none.
  const bool both_map = device->library.soft() && device->library.fast_path()->mmap_set_dmabuf_memrange;
  int fd = -1;
  std::shared_ptr<Pages> pages = both_map ? Pages::allocate_file(length, &fd) : nullptr;
  if (!pages) pages = Pages::allocate(length);
  if (!pages) {
    *error = DOCA_ERROR_NO_MEMORY;
    return nullptr;
  }
  std::shared_ptr<Mmap> made(new Mmap(std::move(device), std::move(pages)));
  *error = made->start(fd, permissions);
  if (fd >= 0) {
    provider::seal_memory_file(fd);
    close(fd);
  }
  return *error == DOCA_SUCCESS ? made : nullptr;
}

doca_error_t Mmap::start(int fd, std::uint32_t permissions) {
  const FastPathFunctions& f = *library().fast_path();
  doca_error_t error = f.mmap_create(&mmap_);
  if (error != DOCA_SUCCESS) return error;
  error = fd >= 0 ? f.mmap_set_dmabuf_memrange(mmap_, fd, pages_->data(), 0, pages_->length())
                  : f.mmap_set_memrange(mmap_, pages_->data(), pages_->length());
  if (error == DOCA_SUCCESS) error = f.mmap_set_permissions(mmap_, permissions);
  if (error == DOCA_SUCCESS) error = f.mmap_add_dev(mmap_, device_->dev);
  if (error == DOCA_SUCCESS) error = f.mmap_start(mmap_);
  return error;
}

Mmap::~Mmap() {
  if (mmap_ == nullptr) return;
  const FastPathFunctions& f = *library().fast_path();
  f.mmap_stop(mmap_);
  f.mmap_destroy(mmap_);
}

}  // namespace verbs::doca_comm::binding
