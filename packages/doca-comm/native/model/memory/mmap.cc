#include "model/memory/mmap.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/base/error.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

using MmapPool = HandlePool<doca_mmap, Mmap>;

constexpr std::uint32_t kPciFlags = DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE;
constexpr std::uint32_t kFlags = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
                                 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC | kPciFlags |
                                 DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING;

}  // namespace

doca_mmap* publish(std::shared_ptr<Mmap> mmap) { return MmapPool::get().add(std::move(mmap)); }
Mmap* find_mmap(const doca_mmap* handle) { return MmapPool::get().find(handle); }
bool destroy_mmap(doca_mmap* handle) { return find_mmap(handle) && MmapPool::get().remove(handle); }

doca_error_t Mmap::create(std::shared_ptr<Mmap>* mmap) {
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  mmap->reset(new Mmap);
  return DOCA_SUCCESS;
}

Mmap::~Mmap() {
  deregister();
  for (const Device& device : devices_) Bluefield::get().release(device.dev);
}

bool Mmap::contains(const void* address, std::size_t length) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(address_), at = reinterpret_cast<std::uintptr_t>(address);
  return at >= begin && at - begin <= length_ && length <= length_ - (at - begin);
}

bool Mmap::writable() const {
  return (access_ & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE)) != 0;
}

const ibv_mr* Mmap::region(const doca_dev* dev) const {
  for (const Device& device : devices_) {
    if (device.dev == dev) return device.region;
  }
  return nullptr;
}

// Decided here: remote access is given to nobody. The fast path needs none, and nothing else uses this memory.
doca_error_t Mmap::start() {
  if (started_) return DOCA_ERROR_BAD_STATE;
  if (!has_range()) return DOCA_ERROR_BAD_STATE;
  for (Device& device : devices_) {
    device.region = register_with(device.dev->pd);
    if (device.region) continue;
    const int error = errno;
    deregister();
    if (error == EOPNOTSUPP) return DOCA_ERROR_NOT_SUPPORTED;
    return error_of(error, error == EFAULT || error == EINVAL ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_DRIVER);
  }
  started_ = started_once_ = true;
  return DOCA_SUCCESS;
}

ibv_mr* Mmap::register_with(ibv_pd* pd) const {
  const int access = writable() ? IBV_ACCESS_LOCAL_WRITE : 0;
  if (!file_.is_open()) return Verbs::get()->reg_mr(pd, address_, length_, access);
  return Verbs::get()->reg_dmabuf_mr(pd, file_offset_, length_, reinterpret_cast<std::uintptr_t>(address_), file_.get(),
                                     access);
}

doca_error_t Mmap::stop() {
  if (!started_) return DOCA_ERROR_BAD_STATE;
  if (in_use()) return DOCA_ERROR_NOT_PERMITTED;
  deregister();
  started_ = false;
  return DOCA_SUCCESS;
}

void Mmap::deregister() {
  for (Device& device : devices_) {
    if (device.region) Verbs::get()->dereg_mr(std::exchange(device.region, nullptr));
  }
}

doca_error_t Mmap::add(doca_dev* dev) {
  if (started_) return DOCA_ERROR_NOT_PERMITTED;
  const auto is = [dev](const Device& device) { return device.dev == dev; };
  if (std::any_of(devices_.begin(), devices_.end(), is)) return DOCA_ERROR_ALREADY_EXIST;
  if (devices_.size() >= max_devices_) return DOCA_ERROR_NO_MEMORY;
  devices_.reserve(devices_.size() + 1);
  if (!Bluefield::get().hold(dev)) return DOCA_ERROR_INVALID_VALUE;
  devices_.push_back({.dev = dev, .region = nullptr});
  return DOCA_SUCCESS;
}

doca_error_t Mmap::remove(doca_dev* dev) {
  if (!Bluefield::get().is_open(dev)) return DOCA_ERROR_INVALID_VALUE;
  if (started_) return DOCA_ERROR_NOT_PERMITTED;
  if (std::erase_if(devices_, [dev](const Device& device) { return device.dev == dev; }) == 0) {
    return DOCA_ERROR_NOT_FOUND;
  }
  Bluefield::get().release(dev);
  return DOCA_SUCCESS;
}

doca_error_t Mmap::set_range(void* address, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (!address || length == 0 || begin + length < begin) return DOCA_ERROR_INVALID_VALUE;
  if (started_) return DOCA_ERROR_BAD_STATE;
  if (has_range()) return DOCA_ERROR_NOT_PERMITTED;
  address_ = address;
  length_ = length;
  return DOCA_SUCCESS;
}

doca_error_t Mmap::set_file_range(int fd, void* address, std::size_t offset, std::size_t length) {
  if (fd < 0 || offset + length < offset) return DOCA_ERROR_INVALID_VALUE;
  // The program may close its own at once.
  Descriptor file(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!file.is_open()) return error_of(errno, errno == EBADF ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_DRIVER);
  const doca_error_t error = set_range(address, length);
  if (error != DOCA_SUCCESS) return error;
  file_ = std::move(file);
  file_offset_ = offset;
  return DOCA_SUCCESS;
}

doca_error_t Mmap::set_permissions(std::uint32_t access) {
  if ((access & ~kFlags) != 0 || (access & kPciFlags) == kPciFlags) return DOCA_ERROR_INVALID_VALUE;
  if (started_) return DOCA_ERROR_BAD_STATE;
  access_ = access;
  return DOCA_SUCCESS;
}

doca_error_t Mmap::set_free(doca_mmap_memrange_free_cb_t* call, void* cookie) {
  if (!call) return DOCA_ERROR_INVALID_VALUE;
  if (started_) return DOCA_ERROR_BAD_STATE;
  free_ = call;
  cookie_ = cookie;
  return DOCA_SUCCESS;
}

doca_error_t Mmap::set_max_devices(std::uint32_t count) {
  if (count == 0) return DOCA_ERROR_INVALID_VALUE;
  if (started_once_ || count < devices_.size()) return DOCA_ERROR_NOT_PERMITTED;
  max_devices_ = count;
  return DOCA_SUCCESS;
}

doca_error_t Mmap::set_user_data(doca_data data) {
  if (started_) return DOCA_ERROR_BAD_STATE;
  user_data_ = data;
  return DOCA_SUCCESS;
}

void Mmap::give_back() {
  deregister();
  started_ = false;  // for a pool that has it
  if (started_once_ && free_) free_(address_, length_, cookie_);
}

}  // namespace verbs::doca_comm::model
