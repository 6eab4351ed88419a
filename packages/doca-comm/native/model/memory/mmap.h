// Memory that devices may access: a range of the program's, registered with each of its devices while it is started.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "doca_mmap.h"
#include "model/base/descriptor.h"
#include "model/base/handles.h"
#include "model/bluefield/device.h"

namespace verbs::doca_comm::model {

class Mmap {
 public:
  static doca_error_t create(std::shared_ptr<Mmap>* mmap);
  ~Mmap();
  Mmap(const Mmap&) = delete;
  Mmap& operator=(const Mmap&) = delete;

  bool started() const { return started_; }
  void* address() const { return address_; }
  std::size_t length() const { return length_; }
  bool has_range() const { return address_ != nullptr; }
  bool contains(const void* address, std::size_t length) const;
  bool writable() const;
  // The registration with that device; nullptr if there is none.
  const ibv_mr* region(const doca_dev* dev) const;

  doca_error_t start();
  // NOT_PERMITTED while buffers or contexts use it.
  doca_error_t stop();
  doca_error_t add(doca_dev* dev);
  doca_error_t remove(doca_dev* dev);
  doca_error_t set_range(void* address, std::size_t length);
  // Of a dma-buf; the NIC takes memory files (memfd) that cannot shrink in their place, and no others.
  doca_error_t set_file_range(int fd, void* address, std::size_t offset, std::size_t length);
  doca_error_t set_permissions(std::uint32_t access);
  doca_error_t set_free(doca_mmap_memrange_free_cb_t* call, void* cookie);
  doca_error_t set_max_devices(std::uint32_t count);
  std::uint32_t max_devices() const { return max_devices_; }
  doca_error_t set_user_data(doca_data data);
  doca_data user_data() const { return user_data_; }
  // What destroying it does: the program's memory may be freed.
  void give_back();

  // Buffers of it; contexts are counted apart.
  std::atomic<std::uint32_t> buffers{0};
  std::atomic<std::uint32_t> contexts{0};
  bool in_use() const { return buffers > 0 || contexts > 0; }

 private:
  struct Device {
    doca_dev* dev;
    ibv_mr* region;
  };
  Mmap() = default;
  ibv_mr* register_with(ibv_pd* pd) const;
  void deregister();

  bool started_ = false;
  bool started_once_ = false;
  void* address_ = nullptr;
  std::size_t length_ = 0;
  Descriptor file_;  // of which the range is a part, from `file_offset_`; else closed
  std::size_t file_offset_ = 0;
  std::uint32_t access_ = DOCA_ACCESS_FLAG_LOCAL_READ_ONLY;
  std::uint32_t max_devices_ = 16;
  std::vector<Device> devices_;
  doca_mmap_memrange_free_cb_t* free_ = nullptr;
  void* cookie_ = nullptr;
  doca_data user_data_{};
};

}  // namespace verbs::doca_comm::model

struct doca_mmap : verbs::doca_comm::model::Handle<verbs::doca_comm::model::Mmap> {};

namespace verbs::doca_comm::model {

doca_mmap* publish(std::shared_ptr<Mmap> mmap);
Mmap* find_mmap(const doca_mmap* handle);
bool destroy_mmap(doca_mmap* handle);

}  // namespace verbs::doca_comm::model
