#include "binding/comch/mmap.h"

#include <sys/mman.h>

namespace verbs::doca_comm::binding {

std::shared_ptr<Pages> Pages::allocate(std::size_t length) {
  void* data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  return std::shared_ptr<Pages>(new Pages(static_cast<std::uint8_t*>(data), length));
}

Pages::~Pages() { munmap(data_, length_); }

std::shared_ptr<Mmap> Mmap::create(std::shared_ptr<OpenDevice> device, std::shared_ptr<Pages> pages,
                                   std::uint32_t permissions, doca_error_t* error) {
  const FastPathFunctions& f = *device->library.fast_path();
  std::shared_ptr<Mmap> made(new Mmap(std::move(device), std::move(pages)));
  *error = f.mmap_create(&made->mmap_);
  if (*error == DOCA_SUCCESS) {
    *error = f.mmap_set_memrange(made->mmap_, made->pages_->data(), made->pages_->length());
  }
  if (*error == DOCA_SUCCESS) *error = f.mmap_set_permissions(made->mmap_, permissions);
  if (*error == DOCA_SUCCESS) *error = f.mmap_add_dev(made->mmap_, made->device_->dev);
  if (*error == DOCA_SUCCESS) *error = f.mmap_start(made->mmap_);
  return *error == DOCA_SUCCESS ? made : nullptr;
}

Mmap::~Mmap() {
  if (mmap_ == nullptr) return;
  const FastPathFunctions& f = *library().fast_path();
  f.mmap_stop(mmap_);
  f.mmap_destroy(mmap_);
}

}  // namespace verbs::doca_comm::binding
